import type { Context } from 'hono'
import type { RateLimitInfo } from '../adapters/gate/verdict/info.ts'
import { type HonoHandler, honoMiddleware, type RateLimitMiddleware } from '../adapters/hono/middleware.ts'
import { func, type OptionFields } from '../core/options.ts'
import { edgeGate } from './gate/gate.ts'
import type { EdgeOptions } from './gate/options.ts'

export type { RateLimitInfo, RateLimitMiddleware }

/** What the small middleware for Hono takes. */
export interface EdgeHonoOptions extends EdgeOptions<[Context]> {
  /** Answers refusals by a quota in place of `message` and `statusCode`. */
  readonly handler?: HonoHandler
}

/**
 * Middleware for Hono in a third of the code of @sluice/limiter/adapters/hono: it takes a limiter and a key, and has
 * nothing that finds addresses or rules. `c.get('rateLimit')` has the figures.
 * @throws ConfigError for invalid options
 * @example
 * const limiter = createLimiter({ policies: { api: { algorithm: gcra, limit: 100, period: '15m' } } })
 * app.use(rateLimit({ limiter, key: (c) => ipKey(c.req.header('cf-connecting-ip') ?? '') }))
 */
export function rateLimit(options: EdgeHonoOptions): RateLimitMiddleware {
  const own: OptionFields<Omit<EdgeHonoOptions, keyof EdgeOptions<[Context]>>> = { handler: func }
  const gate = edgeGate<[Context]>(options, own)
  return honoMiddleware(gate, options.handler)
}
