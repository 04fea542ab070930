import type { CompatOptions } from './hits.ts'
import { WindowStore } from './window-store.ts'

/** A store for express-rate-limit: `rateLimit({ …, store: expressRateLimitStore() })`. One for each limiter. */
export function expressRateLimitStore(options: CompatOptions = {}): WindowStore {
  return new WindowStore(options, 'express-rate-limit')
}
