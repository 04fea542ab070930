import { createLimiter, type Limiter } from '../limiter.ts'
import { type CompatOptions, counterPlaceOf, keyText } from './counters/hits.ts'

/** What @nestjs/throttler asks of a storage; times of the answer are in seconds, rounded up. */
export interface ThrottlerStorage {
  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<{ totalHits: number; timeToExpire: number; isBlocked: boolean; timeToBlockExpire: number }>
}

/** Limits kept ready, where functions give them. */
const MAX_LIMITERS = 1_000

/**
 * A storage for @nestjs/throttler. A refusal blocks the key for `blockDuration` milliseconds, and is not counted.
 * @throws ConfigError for a store of yours without a name
 * @example
 * ThrottlerModule.forRoot({ throttlers: [{ ttl: 60_000, limit: 100 }], storage: throttlerStorage() })
 */
export function throttlerStorage(options: CompatOptions = {}): ThrottlerStorage {
  const { store, name } = counterPlaceOf(options, 'nestjs-throttler')
  const limiters = new Map<string, Limiter<string, boolean>>()
  const limiterFor = (
    ttl: number,
    limit: number,
    blockDuration: number,
    throttler: string,
  ): Limiter<string, boolean> => {
    const id = `${ttl}/${limit}/${blockDuration}/${throttler}`
    const known = limiters.get(id)
    if (known !== undefined) return known
    const block = blockDuration > 0 ? { block: { after: 1, within: ttl, for: blockDuration } } : undefined
    const limiter = createLimiter({
      name: `${name}/${throttler}`,
      store,
      policies: { hits: { algorithm: 'token-bucket', refill: 'interval', limit, period: ttl, ...block } },
    })
    if (limiters.size >= MAX_LIMITERS) limiters.clear()
    limiters.set(id, limiter)
    return limiter
  }
  return {
    async increment(key, ttl, limit, blockDuration, throttler) {
      const decision = await limiterFor(ttl, limit, blockDuration, throttler).check(keyText(key))
      const { allowed, remaining, resetAfterMs, retryAfterMs, policies } = decision
      // The refusal that blocks tells of the window; those that follow, of the block.
      const block = policies[0]?.blocked ? 0 : blockDuration
      return {
        // Without the store nothing is known: as if this were the first hit.
        totalHits: allowed ? limit - (remaining ?? limit - 1) : limit + 1,
        timeToExpire: seconds(resetAfterMs ?? 0),
        isBlocked: !allowed,
        timeToBlockExpire: allowed ? 0 : Math.max(1, seconds(Math.max(retryAfterMs ?? ttl, block))),
      }
    },
  }
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1_000)
}
