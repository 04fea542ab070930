/** What a policy decided, of several services. */
export interface DecisionCounts {
  readonly requests: number
  readonly denied: number
}

const SERIES = /^sluice_policy_decisions_total\{(.*)\} (\d+)$/gm
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' }
/** Outcomes of a policy that would not have let a request pass. */
const DENIED = new Set(['limited', 'would_limit'])
/** Decided without the store: the policy itself was not asked. */
const UNDECIDED = 'degraded'

/**
 * Decisions by policy, in the text format of Prometheus.
 * @returns by domain and policy, as JSON: `["shop","login"]`
 */
export function decisionCounts(texts: readonly string[]): ReadonlyMap<string, DecisionCounts> {
  const counts = new Map<string, DecisionCounts>()
  for (const [, labels, value] of texts.flatMap((text) => [...text.matchAll(SERIES)])) {
    const { domain, policy, outcome } = labelsOf(labels!)
    if (outcome === undefined || outcome === UNDECIDED) continue
    const name = JSON.stringify([domain, policy])
    const { requests, denied } = counts.get(name) ?? { requests: 0, denied: 0 }
    const times = Number(value)
    counts.set(name, { requests: requests + times, denied: denied + (DENIED.has(outcome) ? times : 0) })
  }
  return counts
}

/** The value of a metric without labels; NaN where it is not there. */
export function gaugeOf(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}

function labelsOf(text: string): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    [...text.matchAll(LABEL)].map(([, name, value]) => [
      name,
      value!.replace(/\\(.)/g, (whole, char: string) => ESCAPES[char] ?? whole),
    ]),
  )
}
