import { policyOf } from '@sluice/limiter/algorithms'
import { chargedSteps, receiptOf, type Step } from '@sluice/limiter/decide'
import type { Pipeline, Question, ReservedReply } from '@sluice/limiter/pipeline'
import type { ReservationIds, ReservedCharge } from './reservation-id.ts'

/** A reply, and the id by which its charge is settled; `null` when nothing was charged. */
export interface ReservedAnswer extends ReservedReply {
  readonly id: string | null
}

/** @param ttlMs for how long it can be settled; unsettled, the estimate stands */
export async function reserve(
  pipeline: Pipeline<boolean>,
  ids: ReservationIds,
  question: Question,
  ttlMs: number,
): Promise<ReservedAnswer> {
  const reply = await pipeline.reserve(question, ttlMs)
  const left = receiptOf(reply.decision)!
  if (!left.charged) return { ...reply, id: null }
  const { at, chargedAt = at, degraded } = left.outcome
  const charges = chargedSteps(left).map(chargeOf)
  const id = ids.seal({
    domain: question.domain,
    ...reply.once,
    at: chargedAt,
    ...(degraded && { degraded }),
    charges,
  })
  return { ...reply, id }
}

function chargeOf({ rule, ...step }: Step): ReservedCharge {
  const { name, namespace, onStoreError, plan } = rule
  return { ...step, name, namespace, onStoreError, policy: policyOf(plan) }
}
