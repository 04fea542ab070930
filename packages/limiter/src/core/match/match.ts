import { isCost } from '../decide/cost.ts'
import { Facts } from '../identify/facts.ts'
import type { Request } from '../request.ts'
import type { CompiledDomain, Matched, Rules } from './compiled-rules.ts'
import type { RuleMatch } from './limit.ts'
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
  return { steps: applied.flatMap(({ limit, step }) => (replaced.has(limit.name) ? [] : [step])), missing }
}

export const BAD_COST = 'cost must be a whole number from 0 to 2^53−1'

export function unmatched(problem: string): Matched {
  return { steps: [], missing: [], problem }
}

/** Names of the limits that others replace. A rule in shadow mode replaces nothing: it may not lift a limit. */
export function replacedBy(applied: readonly RuleMatch[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { limit, step } of applied) {
    if (step.rule.role === 'shadow') continue
    for (const name of limit.replaces) names.add(name)
  }
  return names
}

function find(domain: CompiledDomain, facts: Facts, cost: number | undefined): Found {
  const applied: RuleMatch[] = []
  const missing: string[] = []
  for (const position of candidates(domain.index, facts)) {
    const limit = domain.limits[position]!
    if (!limit.conditions.every((condition) => condition.holds(facts))) continue
    const result = limit.match(facts, cost)
    if ('problem' in result) return { applied: [], missing, problem: result.problem }
    if (!('skipped' in result)) applied.push(result)
    else if (result.skipped === 'missing') missing.push(limit.name)
  }
  return facts.problem === undefined
    ? { applied, missing }
    : { applied: [], missing: [], problem: facts.problem }
}
