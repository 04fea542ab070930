import type { CompatOptions } from './hits.ts'
import { WindowStore } from './window-store.ts'

/** A store for hono-rate-limiter: `rateLimiter({ …, store: honoRateLimiterStore() })`. One for each limiter. */
export function honoRateLimiterStore(options: CompatOptions = {}): WindowStore {
  return new WindowStore(options, 'hono-rate-limiter')
}
