import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGate } from './gate/gate.ts'
import { arrivalOf, judged, plainHands, refuse } from './gate/node-http.ts'
import type { GateOptions } from './gate/options.ts'

export type { RateLimitInfo } from './gate/node-http.ts'

type Native = [IncomingMessage, ServerResponse]

/**
 * For servers of `node:http`, `node:https` and `node:http2` without a framework: `true`, the request may go on;
 * `false`, it has been answered, or its caller has gone. Rejects when a function of the options throws.
 * @throws ConfigError for options that mean nothing
 */
export function rateLimit(
  options: GateOptions<Native>,
): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  const gate = createGate(options)
  return async (request, response) => {
    const native: Native = [request, response]
    const verdict = await judged(gate, arrivalOf(request, native), plainHands, native)
    if (verdict?.refusal !== undefined) refuse(response, verdict.refusal)
    return verdict !== undefined && verdict.refusal === undefined
  }
}
