import { ConfigError } from '../core/errors.ts'
import { type FetchLimiter, fetchLimiter, type Passage, type Rest } from './fetch/limiter.ts'
import { createGate } from './gate/gate.ts'
import type { CheckedDurations } from './gate/options/checked-durations.ts'
import type { GateOptions } from './gate/options/options.ts'
import type { RateLimitInfo } from './gate/verdict/info.ts'

export type { FetchLimiter, Passage, RateLimitInfo }

/**
 * For whatever takes a Request and gives a Response: Bun, Deno, workers, route handlers of Next. Such requests have
 * no socket, so the options need `address` or `key`, which are given all that the platform passes beside it.
 * @throws ConfigError for invalid options
 * @example
 * const limit = rateLimit({
 *   limit: 100,
 *   period: '15m',
 *   address: (_request: Request, server: Server) => server.requestIP(_request)?.address, // Bun's
 * })
 * const fetch = limit.wrap(() => new Response('hello'))
 */
// biome-ignore lint/suspicious/noExplicitAny: plain JavaScript cannot name what its platform passes
export function rateLimit<R extends Rest = readonly any[], const Text extends string = string>(
  options: GateOptions<[Request, ...R], [Request, ...R]> & CheckedDurations<Text>,
): FetchLimiter<R> {
  const gate = createGate(options as GateOptions<[Request, ...R]>)
  const { key, keyGenerator, address, rules } = options
  if ((key ?? keyGenerator ?? address ?? rules) === undefined) {
    throw new ConfigError('a Request does not tell who sent it: give address or key')
  }
  return fetchLimiter(gate)
}
