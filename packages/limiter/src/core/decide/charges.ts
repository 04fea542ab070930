import { type CostByName, checkedCost } from './cost.ts'
import { type CorrectedCharge, type Decision, type Receipt, receiptOf } from './decision.ts'
import { chargedAt } from './outcome.ts'
import type { Charge } from './run.ts'
import { holdsSlots, type Step } from './step.ts'

/** One cost for every rule, or by the names of rules; whole, from 0 to 2^53−1. */
export type ActualCost = number | CostByName

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
  return ({ rule }) => {
    const cost = Object.hasOwn(actual, rule.name) ? actual[rule.name] : undefined
    return cost === undefined ? undefined : checkedCost(cost)
  }
}

/**
 * What corrects a request's charges to their actual costs. Slots that are held are released, whatever they cost.
 * @param actual whole, from 0; `undefined` leaves a step as it is charged. It is called with what is charged now.
 * @example
 * const charges = chargesOf(receiptOf(decision)!, actualCostOf(3))
 * await store.settle(charges)
 */
export function chargesOf(
  { steps, outcome, charged, corrected }: Receipt,
  actual: (step: Step, cost: number) => number | undefined,
): Charge[] {
  const { figures, degraded } = outcome
  const charges: Charge[] = []
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!
    if (!charged || !figures[i]!.allowed) continue
    const { cost, refundable } = corrected?.[i] ?? uncorrected(step)
    const wanted = holdsSlots(step) ? 0 : (actual(step, cost) ?? cost)
    const change = Math.max(wanted - cost, -refundable)
    charges.push({ step, at: chargedAt(outcome, i), change, ...(degraded && { degraded }) })
  }
  return charges
}

/** What is charged for each step once `charges` are corrected. */
export function correctedBy(
  { steps, corrected }: Receipt,
  charges: readonly Charge[],
): readonly CorrectedCharge[] {
  const changes = new Map(charges.map(({ step, change }) => [step, change]))
  return steps.map((step, i) => {
    const { cost, refundable } = corrected?.[i] ?? uncorrected(step)
    const change = changes.get(step) ?? 0
    return { cost: cost + change, refundable: refundable + Math.min(0, change) }
  })
}

function uncorrected({ cost }: Step): CorrectedCharge {
  return { cost, refundable: cost }
}

/**
 * The step that decided a request: its rule is the one that `decision.policy` names. `undefined` where all rules
 * are in shadow mode, and for a decision that was read from text.
 * @example
 * const decision = limiter.check('ada')
 * bindingStep(decision)?.key // 'ada'
 */
export function bindingStep(decision: Decision): Step | undefined {
  return receiptOf(decision)?.binding
}
