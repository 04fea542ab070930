import type { DropInOptions } from './hits.ts'
import { WindowStore } from './window-store.ts'

/** A store for express-rate-limit: `rateLimit({ …, store: expressRateLimitStore() })`. One for each limiter. */
export function expressRateLimitStore(options: DropInOptions = {}): WindowStore {
  return new WindowStore(options, 'express-rate-limit')
}
