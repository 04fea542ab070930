import type { CompatOptions } from './counters/hits.ts'
import { WindowStore } from './counters/window-store.ts'

/**
 * A store for express-rate-limit. One for each limiter.
 * @throws ConfigError for a store of yours without a name
 * @example
 * app.use(rateLimit({ windowMs: 60_000, limit: 100, store: expressRateLimitStore() }))
 */
export function expressRateLimitStore(options: CompatOptions = {}): WindowStore {
  return new WindowStore(options, 'express-rate-limit')
}
