import { isCost } from '../decide/cost.ts'
import type { Step } from '../decide/step.ts'
import { Facts } from '../identify/facts.ts'
import type { Request } from '../request.ts'
import type { CompiledDomain, Matched, Rules } from './compiled-rules.ts'
import type { CompiledLimit, RuleMatch } from './limit.ts'
import { candidates } from './rule-index.ts'

/** Rules that apply to one request. */
interface Found {
  readonly applied: RuleMatch[]
  readonly missing: string[]
  readonly problem?: string
}

/**
 * Which limits a request meets, and under which keys.
 * @param cost for rules that state none of their own; default 1
 * @example
 * const { steps } = matchRequest(rules, 'shop', { path: '/login', ip: '192.0.2.1' })
 */
export function matchRequest(rules: Rules, domainName: string, request: Request, cost?: number): Matched {
  const domain = rules.domains.get(domainName)
  if (domain === undefined) return unmatched(`there is no domain ${JSON.stringify(domainName)}`)
  if (cost !== undefined && !isCost(cost)) return unmatched(BAD_COST)
  const { applied, missing, problem } = find(domain, new Facts(request, rules.setting.foldPaths), cost)
  if (problem !== undefined) return unmatched(problem)
  const replaced = replacedBy(applied)
  const steps: Step[] = []
  for (const { limit, step } of applied) if (!replaced.has(limit.name)) steps.push(step)
  return { steps, missing }
}

/**
 * What one limit asks of a request, whatever its `when` says and other limits replace: for callers that chose the limit
 * themselves. `skipped` says why it does not apply, `problem` why the request cannot be read.
 * @throws TypeError for a name that a request does not have
 * @example
 * const limit = rules.domains.get('shop')!.limits[0]!
 * const met = matchLimit(rules, limit, { attributes: { user: 'ada' } })
 * if ('step' in met) console.log(met.step.key) // ada
 */
export function matchLimit(rules: Rules, limit: CompiledLimit, request: Request): LimitMatch {
  const facts = new Facts(request, rules.setting.foldPaths)
  const result = limit.match(facts, undefined)
  if (facts.problem !== undefined) return { problem: facts.problem }
  return 'step' in result ? { step: result.step } : result
}

/** What became of a request at one limit. */
export type LimitMatch =
  | { readonly step: Step }
  | { readonly skipped: 'missing' | 'exempt' }
  | { readonly problem: string }

export const BAD_COST = 'cost must be a whole number from 0 to 2^53−1'

export function unmatched(problem: string): Matched {
  return { steps: [], missing: [], problem }
}

/** Names of the limits that others replace. A rule in shadow mode replaces nothing: it may not lift a limit. */
export function replacedBy(applied: readonly RuleMatch[]): ReadonlySet<string> {
  let names: Set<string> | undefined
  for (const { limit, step } of applied) {
    if (limit.replaces.length === 0 || step.rule.role === 'shadow') continue
    names ??= new Set()
    for (const name of limit.replaces) names.add(name)
  }
  return names ?? NONE
}

const NONE: ReadonlySet<string> = new Set()

function holds({ conditions }: CompiledLimit, facts: Facts): boolean {
  for (const condition of conditions) if (!condition.holds(facts)) return false
  return true
}

function find(domain: CompiledDomain, facts: Facts, cost: number | undefined): Found {
  const applied: RuleMatch[] = []
  const missing: string[] = []
  for (const position of candidates(domain.index, facts)) {
    const limit = domain.limits[position]!
    if (!holds(limit, facts)) continue
    const result = limit.match(facts, cost)
    if ('problem' in result) return { applied: [], missing, problem: result.problem }
    if (!('skipped' in result)) applied.push(result)
    else if (result.skipped === 'missing') missing.push(limit.name)
  }
  return facts.problem === undefined
    ? { applied, missing }
    : { applied: [], missing: [], problem: facts.problem }
}
