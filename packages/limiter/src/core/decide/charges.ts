import { checkedCost } from './cost.ts'
import { type Decision, type Receipt, receipt } from './decision.ts'
import type { Charge } from './run.ts'
import { holdsSlots, type Step } from './step.ts'

/**
 * The steps for which a request was charged: of one that was refused, or only looked, none.
 * @example
 * chargedSteps(decision[receipt]!).map(({ rule, key }) => [rule.name, key])
 */
export function chargedSteps({ steps, outcome: { figures }, charged }: Receipt): readonly Step[] {
  return charged ? steps.filter((_, i) => figures[i]!.allowed) : []
}

/** One cost for every rule, or by the names of rules; whole, from 0 to 2^53−1. */
export type ActualCost = number | Readonly<Record<string, number>>

/**
 * What each step really cost; `undefined` for a rule that is not named.
 * @throws TypeError for a number that is no cost
 * @example
 * const costOf = actualCostOf({ tokens: 1234 })
 * costOf(step) // 1234 for a step of the rule `tokens`, undefined for any other
 */
export function actualCostOf(actual: ActualCost | undefined): (step: Step) => number | undefined {
  if (typeof actual !== 'object') {
    const cost = actual === undefined ? undefined : checkedCost(actual)
    return () => cost
  }
  return ({ rule }) => (Object.hasOwn(actual, rule.name) ? checkedCost(actual[rule.name]) : undefined)
}

/**
 * What corrects a request's charges to their actual costs. Slots that are held are released, whatever they cost.
 * @param actual whole, from 0; `undefined` leaves a step as it was charged
 * @example
 * const charges = chargesOf(decision[receipt]!, actualCostOf(3))
 * await store.settle(charges)
 */
export function chargesOf(receipt: Receipt, actual: (step: Step) => number | undefined): Charge[] {
  const { at, chargedAt = at, degraded } = receipt.outcome
  return chargedSteps(receipt).map((step) => {
    const cost = holdsSlots(step) ? 0 : (actual(step) ?? step.cost)
    return { step, at: chargedAt, change: cost - step.cost, ...(degraded && { degraded }) }
  })
}

/**
 * The step that decided a request: its rule is the one that `decision.policy` names. `undefined` where no rule could
 * refuse, and for a decision that was read from text.
 * @example
 * const decision = limiter.check('ada')
 * bindingStep(decision)?.key // 'ada'
 */
export function bindingStep(decision: Decision): Step | undefined {
  return decision[receipt]?.binding
}
