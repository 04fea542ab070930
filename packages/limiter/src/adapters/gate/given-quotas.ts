import { decisionOf } from '../../core/decide/decision.ts'
import { ConfigError, StoreError } from '../../core/errors.ts'
import type { Rules } from '../../core/match/compile.ts'
import type { Request } from '../../core/request.ts'
import { createPipeline } from '../../pipeline.ts'
import type { Store } from '../../stores/store.ts'
import type { Arrival, Native } from './arrival.ts'
import type { ActualCost } from './options.ts'
import { settledIn } from './own-quotas.ts'
import type { Asked, Question, Quotas } from './quotas.ts'
import type { Settings } from './settings.ts'
import { soon } from './soon.ts'

/** How long a request may take before its cost can no longer be settled, where a limiter of the user's keeps it. */
const SETTLE_WITHIN = '15m'

/** The quotas of a limiter that exists already. Where its store fails and it has no FallbackStore, the gate answers. */
export function limiterQuotas<N extends Native>(settings: Settings<N>): Quotas<N> {
  const { settleCost, onStoreError = 'open', observe, logger, name } = settings
  const limiter = settings.limiter!
  let failing = false
  const ask = async ({ key, cost }: Question<N>): Promise<Asked> => {
    if (settleCost !== undefined) {
      const reservation = await limiter.reserve(key, { cost, ttl: SETTLE_WITHIN })
      return { decision: reservation.decision, settle: (actual) => reservation.commit(plain(actual, cost)) }
    }
    const decision = await limiter.check(key, { cost })
    return { decision, settle: (actual) => limiter.refund(decision, cost - plain(actual, cost)) }
  }
  return {
    async ask(question) {
      try {
        const asked = await ask(question)
        failing = false
        return asked
      } catch (error) {
        if (!(error instanceof StoreError)) throw error
        observe?.({ type: 'store-failed', domain: name, error })
        if (!failing)
          logger.error(`rate limit: the store failed (${error.message}): ${onStoreError} until it answers`)
        failing = true
        return { decision: decisionOf([], [], [], onStoreError !== 'closed', true), settle: () => undefined }
      }
    },
    peek: async (key) => limiter.peek(key),
    reset: async (key) => limiter.reset(key),
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
    ask({ arrival, address, cost }) {
      const request = requestOf(arrival, address)
      const known = soon(attributes?.(...arrival.native), (own) =>
        own === undefined ? request : { ...request, attributes: own },
      )
      return soon(known, (request) =>
        soon(pipeline.handle({ domain, request, cost }), ({ decision }) => settledIn(store, decision)),
      )
    },
    peek: byRule,
    reset: byRule,
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
