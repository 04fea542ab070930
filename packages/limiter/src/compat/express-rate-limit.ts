import { createHash } from 'node:crypto'
import { above0, anything, checkOptions, recordOf } from '../core/options.ts'
import { memoized } from '../memoize.ts'
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

/** The adapter checks all else. */
const GIVEN = /* @__PURE__ */ recordOf(anything, 'an object with windowMs and limit')
const MILLISECONDS = /* @__PURE__ */ above0(Number.POSITIVE_INFINITY)

/**
 * Options of the Express adapter, with headers as express-rate-limit sends them for `draft-8`: the policy is named after
 * its quota, such as `100-in-1min`, and `pk` tells callers apart. A limit that is a function has no such name.
 * @param options `windowMs` in milliseconds; with an `identifier`, that is the name
 * @throws ConfigError for a `windowMs` that is no number above 0
 * @example
 * app.use(rateLimit(draft8({ windowMs: 60_000, limit: 100 }))) // RateLimit: "100-in-1min";r=99;t=60
 */
export function draft8<O extends Draft8Options>(
  options: O,
): O & { identifier?: string; standardHeaders: 'draft-8'; partitionKey(key: string): Uint8Array } {
  checkOptions(options, GIVEN)
  const { windowMs, limit, identifier } = options
  checkOptions(windowMs, MILLISECONDS, 'windowMs')
  const named = typeof limit === 'number' ? { identifier: `${limit}-in-${durationText(windowMs)}` } : {}
  return {
    ...options,
    ...(identifier === undefined && named),
    standardHeaders: 'draft-8',
    partitionKey: memoized(partitionKeyOf),
  }
}

export interface Draft8Options {
  readonly windowMs: number
  readonly limit: unknown
  readonly identifier?: string
}

/** As express-rate-limit makes it: the first 12 hexadecimal digits of the key's SHA-256, as text. */
function partitionKeyOf(key: string): Uint8Array {
  return new TextEncoder().encode(createHash('sha256').update(key).digest('hex').slice(0, 12))
}

/** `30sec`, `1min`, `1hr`, `2hrs`, `1day`, `7days`. */
function durationText(ms: number): string {
  const [seconds, minutes, hours, days] = [ms / 1_000, ms / 60_000, ms / 3_600_000, ms / 86_400_000]
  if (seconds < 60) return `${seconds}sec`
  if (minutes < 60) return `${minutes}min`
  return hours < 24 ? `${hours}hr${hours > 1 ? 's' : ''}` : `${days}day${days > 1 ? 's' : ''}`
}
