import { policyOf } from '@sluice/limiter/algorithms'
import { type Charge, chargesOf, receiptOf } from '@sluice/limiter/decide'
import type { Pipeline, Question, ReservedReply } from '@sluice/limiter/pipeline'
import type { ReservationIds, ReservedCharge } from './reservation-id.ts'

/** A reply, and the id by which its charge is settled; `null` when nothing was charged. */
export interface ReservedAnswer extends ReservedReply {
  readonly id: string | null
}

/**
 * @param node names this process
 * @param ttlMs for how long it can be settled; unsettled, the estimate stands
 */
export async function reserve(
  pipeline: Pipeline<boolean>,
  ids: ReservationIds,
  node: string,
  question: Question,
  ttlMs: number,
): Promise<ReservedAnswer> {
  const reply = await pipeline.reserve(question, ttlMs)
  const left = receiptOf(reply.decision)!
  if (!left.charged) return { ...reply, id: null }
  const { degraded } = left.outcome
  const charges = chargesOf(left, () => undefined).map(chargeOf)
  const id = ids.seal({
    domain: question.domain,
    ...reply.once,
    ...(degraded && { degraded: node }),
    charges,
  })
  return { ...reply, id }
}

function chargeOf({ step: { rule, ...step }, at }: Charge): ReservedCharge {
  const { name, namespace, onStoreError, plan } = rule
  return { ...step, at, name, namespace, onStoreError, policy: policyOf(plan) }
}
