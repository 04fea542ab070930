import { mergeOffenders, type OffenderList } from '@sluice/limiter/offenders'
import { askNode } from '../top/admin-address.ts'
import { UsageError } from '../usage-error.ts'
import { decisionCounts, gaugeOf } from './scraped-metrics.ts'

/** What one policy said since a service started, by itself. */
export interface LivePolicyFigures {
  readonly domain: string
  readonly policy: string
  /** Whether it only reports. */
  readonly shadow: boolean
  readonly requests: number
  /** Refused, or in shadow mode what would have been. */
  readonly denied: number
  /** Of all keys that it refused or would have, those with most; of the last day. */
  readonly keys: readonly { readonly key: string; readonly denied: number }[]
}

/** How rules in shadow mode would have decided, beside those that decided. */
export interface ShadowReport {
  /** Since when the figures count, RFC 3339: since the services started. */
  readonly countsSince: string
  readonly domains: readonly ShadowDomain[]
}

/** A domain that has rules in shadow mode. */
export interface ShadowDomain {
  readonly domain: string
  /** Since when its rules are as they are, and the figures count: what was counted before may be of other rules. */
  readonly since: string
  /** Hours of data: from then until now. */
  readonly hours: number
  readonly policies: readonly LivePolicyFigures[]
}

interface ShadowRules {
  readonly domains?: readonly {
    readonly name: string
    readonly since: string
    readonly limits: readonly { readonly name: string; readonly mode: string }[]
    readonly descriptors: readonly {
      readonly name?: string
      readonly path: readonly string[]
      readonly unlimited: boolean
      readonly mode: string
    }[]
  }[]
}

interface NodeFigures {
  readonly rules: ShadowRules
  readonly metrics: string
  readonly lists: readonly OffenderList[]
}

const TOP = 10
const STARTED = 'process_start_time_seconds'
const DEADLINE_MS = 10_000
const MS_PER_HOUR = 3_600_000

/**
 * Asks services for the figures of their rules, and adds them up.
 * @param addresses of their admin addresses, as URLs
 * @param now milliseconds since the epoch
 * @throws UsageError for an address that does not answer, or where no rule is in shadow mode
 */
export async function shadowReport(
  addresses: readonly string[],
  token: string | undefined,
  now: number,
): Promise<ShadowReport> {
  const nodes = await Promise.all(addresses.map((address) => figuresOf(address, token)))
  const started = Math.max(...nodes.map(({ metrics }) => gaugeOf(metrics, STARTED) * 1_000))
  const lists = mergeOffenders(
    nodes.map((node) => node.lists),
    TOP,
  )
  const counts = decisionCounts(nodes.map(({ metrics }) => metrics))
  const domains = new Map<string, ShadowDomain>()
  for (const { name, since, limits, descriptors } of nodes.flatMap(({ rules }) => rules.domains ?? [])) {
    const begins = Math.max(started, Date.parse(since), Date.parse(domains.get(name)?.since ?? '1970-01-01'))
    const named = [
      ...limits,
      ...descriptors
        .filter(({ unlimited }) => !unlimited)
        .map(({ name: own, path, mode }) => ({ name: own ?? pathName(path), mode })),
    ]
    const policies = new Map(named.map((policy) => [policy.name, policy.mode === 'shadow']))
    if (![...policies.values()].includes(true)) continue
    domains.set(name, {
      domain: name,
      since: new Date(begins).toISOString(),
      hours: Math.max(0, now - begins) / MS_PER_HOUR,
      policies: [...policies].map(([policy, shadow]) => ({
        domain: name,
        policy,
        shadow,
        ...(counts.get(JSON.stringify([name, policy])) ?? { requests: 0, denied: 0 }),
        keys: keysOf(lists, name, policy),
      })),
    })
  }
  if (domains.size === 0)
    throw new UsageError('no rule is in shadow mode there: mode: shadow makes one report alone')
  return { countsSince: new Date(started).toISOString(), domains: [...domains.values()] }
}

/** As rules without a name are reported: `key_value.key_value`. */
function pathName(path: readonly string[]): string {
  return path.map((label) => label.replace('=', '_')).join('.')
}

function keysOf(lists: readonly OffenderList[], domain: string, policy: string): LivePolicyFigures['keys'] {
  const list = lists.find((each) => each.domain === domain && each.policy === policy)
  return (list?.denied.keys ?? []).map(({ key, atMost }) => ({ key, denied: atMost }))
}

async function figuresOf(address: string, token: string | undefined): Promise<NodeFigures> {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const ask = (path: string, accept = 'application/json') => askNode(address, path, accept, token, signal)
  try {
    const [rules, metrics, offenders] = await Promise.all([
      ask('/v1/rules').then((response) => response.json()),
      ask('/metrics', 'text/plain').then((response) => response.text()),
      ask(`/v1/offenders?window=1d&top=${TOP}`).then((response) => response.json()),
    ])
    if (Number.isNaN(gaugeOf(metrics, STARTED)))
      throw new UsageError(`${address} does not say when it started: is it the admin address of a service?`)
    const { lists } = offenders as { readonly lists: readonly OffenderList[] }
    return { rules: rules as ShadowRules, metrics, lists }
  } catch (error) {
    if (!signal.aborted) throw error
    throw new UsageError(`${address} does not answer within ${DEADLINE_MS / 1_000} s`, { cause: error })
  }
}
