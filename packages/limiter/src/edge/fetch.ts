import { type FetchLimiter, fetchLimiter, type Passage, type Rest } from '../adapters/fetch/limiter.ts'
import type { RateLimitInfo } from '../adapters/gate/verdict/info.ts'
import { edgeGate } from './gate/gate.ts'
import type { EdgeOptions } from './gate/options.ts'

export type { FetchLimiter, Passage, RateLimitInfo }

/**
 * For whatever takes a Request and gives a Response, in a third of the code of @sluice/limiter/adapters/fetch: it takes
 * a limiter and a key, and has nothing that finds addresses or rules.
 * @throws ConfigError for invalid options
 * @example
 * const limiter = createLimiter({ policies: { api: { algorithm: gcra, limit: 100, period: '15m' } } })
 * const limit = rateLimit({ limiter, key: (request: Request) => request.headers.get('x-user') ?? undefined })
 * const fetch = limit.wrap(() => new Response('hello'))
 */
// biome-ignore lint/suspicious/noExplicitAny: plain JavaScript cannot name what its platform passes
export function rateLimit<R extends Rest = readonly any[]>(
  options: EdgeOptions<[Request, ...R]>,
): FetchLimiter<R> {
  return fetchLimiter(edgeGate(options))
}
