import type { Decision } from '@sluice/limiter'
import { holdsSlots, type Receipt, type Rule, receiptOf, type Step } from '@sluice/limiter/decide'
import type { AnswerBody } from '@sluice/limiter/wire'

type Unasked = Pick<AnswerBody, 'repeatableMs' | 'leaseMs'>

/**
 * What a client may do by itself until it asks again: nothing where a rule must see each request, or the store did not
 * decide.
 */
export function unasked(decision: Decision): Unasked | undefined {
  const receipt = receiptOf(decision)
  if (receipt === undefined || decision.degraded || receipt.steps.length === 0) return undefined
  if (!receipt.steps.every(({ rule }) => seesNoRequest(rule))) return undefined
  if (decision.allowed) return leaseOf(receipt, decision.resetAfterMs)
  if (receipt.steps.some((step) => holdsSlots(step) || step.rule.tarpitMs !== undefined)) return undefined
  const { retryAfterMs, moreAfterMs } = decision
  const waits = [retryAfterMs, moreAfterMs].filter((wait) => wait !== null)
  return waits.length === 0 ? undefined : { repeatableMs: Math.min(...waits) }
}

/** A block counts refusals; shadow limits and those that lower the priority are counted in metrics. */
function seesNoRequest({ role, block, missingKey }: Rule): boolean {
  return role === 'enforce' && block === undefined && missingKey === undefined
}

/** Units of several limits may end at different times; a cost of a rule's own is charged once, however many are asked for. */
function leaseOf(
  { steps: [step, ...others], charged }: Receipt,
  resetAfterMs: number | null,
): Unasked | undefined {
  if (step === undefined || others.length > 0 || !charged || resetAfterMs === null) return undefined
  return isLeasable(step) ? { leaseMs: resetAfterMs } : undefined
}

/** Of buckets, units that are granted later would come on top of what is refilled meanwhile. */
function isLeasable({ rule: { plan, soft }, costFrom }: Step): boolean {
  return plan.algorithm.traits.ends === true && soft === undefined && costFrom === undefined
}
