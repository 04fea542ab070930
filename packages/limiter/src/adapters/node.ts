import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGate } from './gate/gate.ts'
import { incomingRequestOf, judged, plainWriter, refuse } from './gate/hosts/node-http.ts'
import type { GateOptions } from './gate/options/options.ts'

export type { RateLimitInfo } from './gate/hosts/node-http.ts'

type FrameworkArgs = [IncomingMessage, ServerResponse]

/**
 * For servers of `node:http`, `node:https` and `node:http2` without a framework: `true`, the request may go on;
 * `false`, it has been answered, or its caller has gone. Rejects when a function of the options throws.
 * @throws ConfigError for options that mean nothing
 * @example
 * const limit = rateLimit({ limit: 100, period: '15m' })
 * const server = createServer(async (request, response) => {
 *   if (await limit(request, response)) response.end('hello')
 * })
 */
export function rateLimit(
  options: GateOptions<FrameworkArgs>,
): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  const gate = createGate(options)
  return async (request, response) => {
    const args: FrameworkArgs = [request, response]
    const verdict = await judged(gate, incomingRequestOf(request, args), plainWriter, args)
    if (verdict?.refusal !== undefined) refuse(response, verdict.refusal)
    return verdict !== undefined && verdict.refusal === undefined
  }
}
