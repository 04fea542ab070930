import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGate } from './gate/gate.ts'
import { evaluated, incomingRequestOf, plainWriter, sendRefusal } from './gate/hosts/node-http.ts'
import type { CheckedDurations } from './gate/options/checked-durations.ts'
import type { GateOptions } from './gate/options/options.ts'

export type { RateLimitInfo } from './gate/hosts/node-http.ts'

type NodeArgs = [IncomingMessage, ServerResponse]

/**
 * For servers of `node:http`, `node:https` and `node:http2` without a framework: `true`, the request may go on;
 * `false`, it has been answered, or its caller has gone. Rejects when a function of the options throws.
 * @throws ConfigError for invalid options
 * @example
 * const limit = rateLimit({ limit: 100, period: '15m' })
 * const server = createServer(async (request, response) => {
 *   if (await limit(request, response)) response.end('hello')
 * })
 */
export function rateLimit<const Text extends string = string>(
  options: GateOptions<NodeArgs> & CheckedDurations<Text>,
): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  const gate = createGate(options)
  return async (request, response) => {
    const args: NodeArgs = [request, response]
    const verdict = await evaluated(gate, incomingRequestOf(request, args), plainWriter, args)
    if (verdict?.refusal !== undefined) sendRefusal(response, verdict.refusal)
    return verdict !== undefined && verdict.refusal === undefined
  }
}
