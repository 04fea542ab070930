import type { Context } from 'hono'
import { func, type OptionFields } from '../core/options.ts'
import { createGate } from './gate/gate.ts'
import type { CheckedDurations } from './gate/options/checked-durations.ts'
import type { GateOptions } from './gate/options/options.ts'
import type { RateLimitInfo } from './gate/verdict/info.ts'
import { type HonoHandler, honoMiddleware, type RateLimitMiddleware } from './hono/middleware.ts'

export type { RateLimitInfo, RateLimitMiddleware }

export interface HonoOptions extends GateOptions<[Context]> {
  /** Answers refusals by a quota in place of `message` and `statusCode`. */
  readonly handler?: HonoHandler
}

const OWN: OptionFields<Omit<HonoOptions, keyof GateOptions<[Context]>>> = { handler: func }

/**
 * Middleware for Hono, wherever it runs. On Node, Bun and Deno callers are distinguished by their sockets' addresses;
 * elsewhere give `address` or `key`. `c.get('rateLimit')` has the figures.
 * @throws ConfigError for invalid options
 * @example
 * app.use(rateLimit({ limit: 100, period: '15m' }))
 * app.get('/', (c) => c.json({ remaining: c.get('rateLimit').remaining }))
 */
export function rateLimit<const Text extends string = string>(
  options: HonoOptions & CheckedDurations<Text>,
): RateLimitMiddleware {
  return honoMiddleware(createGate<[Context]>(options, OWN), options.handler)
}
