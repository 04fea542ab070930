import type { CompatOptions } from './counters/hits.ts'
import { WindowStore } from './counters/window-store.ts'

/**
 * A store for hono-rate-limiter. One for each limiter.
 * @throws ConfigError for a store of yours without a name
 * @example
 * app.use(rateLimiter({ windowMs: 60_000, limit: 100, keyGenerator, store: honoRateLimiterStore() }))
 */
export function honoRateLimiterStore(options: CompatOptions = {}): WindowStore {
  return new WindowStore(options, 'hono-rate-limiter')
}
