import { planOf, policyOf } from '@sluice/limiter/algorithms'
import { canRefuse, type Outcome, type Rule, receiptOf, type Step } from '@sluice/limiter/decide'
import { Decider } from '../simulate/decider.ts'
import type { TrafficSource } from '../traffic/source.ts'
import { type PastDecision, type PastOptions, pastDecisions } from './past-decisions.ts'

/** What would have let a refused request pass, each by itself. */
export interface Remedies {
  /** Milliseconds after which it would have passed, had nobody else come; null: no wait helps. */
  readonly waitMs: number | null
  /** The largest cost with which it would have passed; absent where there is none. */
  readonly cost?: number
  /** Of each rule that refused it. Together they let it pass. */
  readonly limits: readonly RaisedLimit[]
}

/**
 * A value with which a rule would have admitted a request, had it been so from the log's beginning: one less would not
 * have been enough. More of the requests before it are then admitted, too.
 */
export interface RaisedLimit {
  readonly policy: string
  readonly option: 'limit' | 'burst'
  readonly is: number
  /** Absent where no value that was tried is enough. */
  readonly needed?: number
}

/** A request that met the counter. */
interface Visit {
  readonly at: number
  readonly duration: number
  readonly cost: number
  /** Whether all other rules admitted it: else nothing was charged. */
  readonly others: boolean
}

/** Requests that are remembered of one counter: the last ones. */
const MOST_VISITS = 100_000
/** The largest value that is tried, as a multiple of what it is. */
const MOST_TIMES = 1_048_576

/** @param before requests of the log before it */
export async function remediesOf(
  sources: readonly TrafficSource[],
  options: PastOptions,
  past: PastDecision,
  before: number,
): Promise<Remedies | undefined> {
  const { decision, at } = past
  if (decision.allowed) return undefined
  const { steps, outcome } = receiptOf(decision)!
  const refusing = steps.filter(({ rule }, i) => !outcome.figures[i]!.allowed && canRefuse(rule.role))
  const visits = await visitsOf(sources, options, refusing, before)
  const cost = affordable(steps, outcome)
  return {
    waitMs: decision.retryAfterMs,
    ...(cost > 0 && { cost }),
    limits: refusing.map((step, i) => raised(step, visits[i]!, at)),
  }
}

/** Of a request with one cost for all rules: what is left by the tightest of those that refuse. */
function affordable(steps: readonly Step[], { figures }: Outcome): number {
  const left = steps.flatMap(({ rule }, i) =>
    figures[i]!.allowed || !canRefuse(rule.role) || figures[i]!.blocked ? [] : [figures[i]!.remaining ?? 0],
  )
  return left.length === 0 ? 0 : Math.floor(Math.min(...left))
}

async function visitsOf(
  sources: readonly TrafficSource[],
  options: PastOptions,
  refusing: readonly Step[],
  before: number,
): Promise<readonly Visit[][]> {
  const visits = refusing.map((): Visit[] => [])
  let seen = 0
  if (before === 0) return visits
  for await (const { at, duration, decision } of pastDecisions(sources, options)) {
    const { steps, outcome } = receiptOf(decision)!
    for (const [i, { rule, key }] of refusing.entries()) {
      const place = steps.findIndex((step) => step.rule === rule && step.key === key)
      if (place < 0) continue
      const others = steps.every(
        (step, other) => other === place || outcome.figures[other]!.allowed || !canRefuse(step.rule.role),
      )
      if (visits[i]!.push({ at, duration, cost: steps[place]!.cost, others }) > MOST_VISITS)
        visits[i]!.splice(0, MOST_VISITS / 2)
    }
    if (++seen === before) break
  }
  return visits
}

function raised(step: Step, visits: readonly Visit[], at: number): RaisedLimit {
  const policy = policyOf(step.rule.plan)
  const option = policy.burst === undefined ? 'limit' : 'burst'
  const is = policy[option] as number
  const passes = (value: number): boolean => {
    const rule = withOption(step.rule, option, value)
    return rule !== undefined && isAdmitted({ ...step, rule }, visits, at)
  }
  const needed = leastFrom(is + 1, Math.max(1, is) * MOST_TIMES, passes)
  return { policy: step.rule.name, option, is, ...(needed !== undefined && { needed }) }
}

/** A value beyond what the algorithm can count helps nobody. */
function withOption(rule: Rule, option: 'limit' | 'burst', value: number): Rule | undefined {
  try {
    const plan = planOf({ ...policyOf(rule.plan), [option]: value })
    return { ...rule, plan, prefetch: undefined }
  } catch {
    return undefined
  }
}

function isAdmitted(step: Step, visits: readonly Visit[], at: number): boolean {
  const decider = new Decider()
  const ask = (cost: number): Step[] => [{ ...step, cost }]
  for (const visit of visits) {
    if (visit.others) decider.decision(ask(visit.cost), visit.at, visit.duration)
  }
  return decider.peek(ask(step.cost), at).allowed
}

/** A whole number that passes, while the one below does not; looked for in doubling steps, then between two. */
function leastFrom(from: number, most: number, passes: (value: number) => boolean): number | undefined {
  let above = from - 1
  let tried = from
  while (!passes(tried)) {
    above = tried
    tried = from + (tried - from + 1) * 2 - 1
    if (tried > most) return undefined
  }
  while (tried - above > 1) {
    const middle = Math.floor((above + tried) / 2)
    if (passes(middle)) tried = middle
    else above = middle
  }
  return tried
}
