import { actualCostOf } from '../../../core/decide/charges.ts'
import type { CostByName } from '../../../core/decide/cost.ts'
import { type Decision, decisionOf, receiptOf } from '../../../core/decide/decision.ts'
import { StoreError } from '../../../core/errors.ts'
import { andThen, type MaybePromise } from '../../../maybe-promise.ts'
import type { Key, Keys } from '../../../policy-steps.ts'
import type { Reservation } from '../../../reservation.ts'
import type { FrameworkArgs } from '../incoming-request.ts'
import type { GateSettings } from '../options/settings.ts'
import { refusedFor } from '../verdict/info.ts'
import type { LimitSource } from './limit-source.ts'

/** How long a request may take before its cost can no longer be settled, where the user's limiter keeps it. */
const SETTLE_WITHIN = '15m'

/** Decisions of a limiter that exists already. Where its store fails and it has no FallbackStore, the gate answers. */
export function fromLimiter<N extends FrameworkArgs>(settings: GateSettings<N>): LimitSource<N> {
  const { settleCost, onStoreError = 'open', observe, logger, name } = settings
  const limiter = settings.limiter!
  const reservations = new WeakMap<Decision, Reservation>()
  let failing = false
  const decided = (key: Key | Keys, cost: number | CostByName): MaybePromise<Decision> => {
    if (settleCost === undefined) return limiter.check(key, { cost })
    return andThen(limiter.reserve(key, { cost, ttl: SETTLE_WITHIN }), (reservation) => {
      reservations.set(reservation.decision, reservation)
      return reservation.decision
    })
  }
  const failed = (error: unknown): Decision => {
    if (!(error instanceof StoreError)) throw error
    observe?.({ type: 'store-failed', error })
    if (!failing)
      logger.error(`rate limit: the store failed (${error.message}): ${onStoreError} until it answers`)
    failing = true
    if (onStoreError === 'closed')
      return observed({ ...refusedFor('store'), retryAfterMs: 0, degraded: true })
    return observed(decisionOf([], { allowed: true, at: 0, figures: [], degraded: true }, true))
  }
  const observed = (decision: Decision): Decision => {
    observe?.({ type: 'decided', domain: name, decision, peek: false })
    return decision
  }
  return {
    check(_, { key }, cost) {
      const decision = decided(key, cost) // in process, a store does not fail
      if (!(decision instanceof Promise)) return observed(decision)
      return decision.then((decision) => {
        failing = false
        return observed(decision)
      }, failed)
    },
    settle(decision, actual) {
      const steps = receiptOf(decision)?.steps ?? []
      if (steps.length === 0) return undefined
      const costOf = actualCostOf(actual)
      const costs = steps.map((step) => [step.rule.name, costOf(step) ?? step.cost] as const)
      const reservation = reservations.get(decision)
      if (reservation !== undefined) return reservation.commit(Object.fromEntries(costs))
      const less = costs.map(([name, cost], i) => [name, steps[i]!.cost - cost])
      return limiter.refund(decision, Object.fromEntries(less))
    },
    peek: async (key) => limiter.peek(key),
    reset: async (key) => limiter.reset(key),
    holds: true, // each decision says by itself
  }
}
