import { type Decision, decisionOf, receipt } from '../../core/decide/decision.ts'
import { ConfigError, StoreError } from '../../core/errors.ts'
import type { Rules } from '../../core/match/compile.ts'
import type { Request } from '../../core/request.ts'
import type { Key } from '../../limiter.ts'
import { createPipeline } from '../../pipeline.ts'
import type { Reservation } from '../../reservation.ts'
import type { Store } from '../../stores/store.ts'
import type { Arrival, Native } from './arrival.ts'
import type { ActualCost } from './options.ts'
import { settledIn } from './own-quotas.ts'
import { hasLeases, type Quotas } from './quotas.ts'
import type { Settings } from './settings.ts'
import { given, type Soon, soon } from './soon.ts'

/** How long a request may take before its cost can no longer be settled, where a limiter of the user's keeps it. */
const SETTLE_WITHIN = '15m'

/** The quotas of a limiter that exists already. Where its store fails and it has no FallbackStore, the gate answers. */
export function limiterQuotas<N extends Native>(settings: Settings<N>): Quotas<N> {
  const { settleCost, onStoreError = 'open', observe, logger, name } = settings
  const limiter = settings.limiter!
  const reservations = new WeakMap<Decision, Reservation>()
  let failing = false
  const decided = (key: Key, cost: number): Soon<Decision> => {
    if (settleCost === undefined) return limiter.check(key, { cost })
    return soon(limiter.reserve(key, { cost, ttl: SETTLE_WITHIN }), (reservation) => {
      reservations.set(reservation.decision, reservation)
      return reservation.decision
    })
  }
  const failed = (error: unknown): Decision => {
    if (!(error instanceof StoreError)) throw error
    observe?.({ type: 'store-failed', domain: name, error })
    if (!failing)
      logger.error(`rate limit: the store failed (${error.message}): ${onStoreError} until it answers`)
    failing = true
    const outcome = { allowed: onStoreError !== 'closed', at: 0, figures: [], degraded: true } as const
    return decisionOf([], [], outcome, true)
  }
  return {
    ask(_, { key }, cost) {
      const decision = decided(key, cost) // in process, a store does not fail
      if (!(decision instanceof Promise)) return decision
      return decision.then((decision) => {
        failing = false
        return decision
      }, failed)
    },
    settle(decision, actual) {
      const [step] = decision[receipt]?.steps ?? []
      if (step === undefined) return undefined
      const cost = plain(actual, step.cost)
      return reservations.get(decision)?.commit(cost) ?? limiter.refund(decision, step.cost - cost)
    },
    peek: async (key) => limiter.peek(key),
    reset: async (key) => limiter.reset(key),
    leases: hasLeases(limiter),
  }
}

function plain(actual: ActualCost | undefined, otherwise: number): number {
  if (typeof actual === 'object') throw new ConfigError('a limiter has one cost for all its policies')
  return actual ?? otherwise
}

/** The quotas of a rulebook: whose they are, and how many apply, is its business. */
export function ruledQuotas<N extends Native>(settings: Settings<N>, store: Store): Quotas<N> {
  const { rules, domain, attributes, observe } = settings
  if (domain === undefined) throw new ConfigError('rules need a domain')
  const current = typeof rules === 'function' ? rules : (): Rules => rules!
  if (!current().domains.has(domain))
    throw new ConfigError(`the rules have no domain ${JSON.stringify(domain)}`)
  const pipeline = createPipeline({
    rules: current,
    store,
    respond: { dialect: [], when: 'denied' },
    ...(observe === undefined ? undefined : { observe }),
  })
  const byRule = (): never => {
    throw new ConfigError('a rulebook has many keys: look or reset through the service, or the store')
  }
  return {
    ask(arrival, { address }, cost) {
      const request = requestOf(arrival, address)
      const known = soon(given(attributes?.(...arrival.native)), (own) =>
        own === undefined ? request : { ...request, attributes: own },
      )
      return soon(known, (request) =>
        soon(pipeline.handle({ domain, request, cost }), ({ decision }) => decision),
      )
    },
    settle: (decision, actual) => settledIn(store, decision, actual),
    peek: byRule,
    reset: byRule,
    leases: true, // another rulebook may come
  }
}

function requestOf<N extends Native>(
  { method, url, host, headers }: Arrival<N>,
  address: string | undefined,
): Request {
  const cut = url.indexOf('?')
  return {
    method,
    path: cut < 0 ? url : url.slice(0, cut),
    headers,
    ...(host === undefined ? undefined : { host }),
    ...(address === undefined ? undefined : { ip: address }),
    ...(cut < 0 ? undefined : { query: Object.fromEntries(new URLSearchParams(url.slice(cut))) }),
  }
}
