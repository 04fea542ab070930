import type { Step } from '../decide/step.ts'
import { Facts } from '../identify/facts.ts'
import type { Request } from '../request.ts'
import type { CompiledDomain, Rules } from './compile.ts'
import { isCost } from './cost.ts'
import type { Applied } from './limit.ts'
import { candidates } from './rule-index.ts'
import { type Gathered, gather } from './ruling.ts'
import type { Subject } from './subject.ts'

/** What the store is to be asked about a request, or why it cannot be. */
export interface Matched {
  /** In rule order; a guard stands right behind the step it watches. */
  readonly steps: readonly Step[]
  /** The rule behind each step, side by side. */
  readonly subjects: readonly Subject[]
  /** Names of rules that did not apply because the request lacks a part of their key. */
  readonly missing: readonly string[]
  /** Why the request cannot be judged as it stands: the caller's mistake (400). Then there are no steps. */
  readonly problem?: string
}

/** Rules that apply to one request. */
interface Found {
  readonly applied: Applied[]
  readonly missing: string[]
  readonly problem?: string
}

/**
 * Which limits a request meets, and under which keys.
 * @param cost for rules that state none of their own; default 1
 */
export function matchRequest(rules: Rules, domainName: string, request: Request, cost?: number): Matched {
  const domain = rules.domains.get(domainName)
  if (domain === undefined) return refused(`there is no domain ${JSON.stringify(domainName)}`)
  if (cost !== undefined && !isCost(cost)) return refused(BAD_COST)
  const { applied, missing, problem } = find(domain, new Facts(request, rules.setting.foldPaths), cost)
  if (problem !== undefined) return refused(problem)
  const gathered: Gathered = { steps: [], subjects: [], missing }
  const replaced = replacedBy(applied)
  for (const { limit, ruling, key, cost: units } of applied) {
    if (!replaced.has(limit.name)) gather(gathered, limit.law, ruling, key, units)
  }
  return gathered
}

export const BAD_COST = 'cost must be a whole number from 0 to 2^53−1'

export function refused(problem: string): Matched {
  return { steps: [], subjects: [], missing: [], problem }
}

/** Names of the rules that others stand in for. A rule in shadow stands in for nothing: it may not lift a limit. */
export function replacedBy(applied: readonly Applied[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { limit, ruling } of applied) {
    if (ruling.subject.mode === 'shadow') continue
    for (const name of limit.replaces) names.add(name)
  }
  return names
}

function find(domain: CompiledDomain, facts: Facts, cost: number | undefined): Found {
  const applied: Applied[] = []
  const missing: string[] = []
  for (const position of candidates(domain.index, facts)) {
    const limit = domain.limits[position]!
    if (!limit.conditions.every((condition) => condition.holds(facts))) continue
    const judgement = limit.judge(facts, cost)
    if ('problem' in judgement) return { applied: [], missing, problem: judgement.problem }
    if (!('skipped' in judgement)) applied.push(judgement)
    else if (judgement.skipped === 'missing') missing.push(limit.name)
  }
  return { applied, missing }
}
