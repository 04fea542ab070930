import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGate } from './gate/gate.ts'
import { arrivalOf, judged, refuse } from './gate/node-http.ts'
import type { GateOptions } from './gate/options.ts'

export type { RateLimitInfo } from './gate/node-http.ts'

/**
 * For servers of `node:http`, `node:https` and `node:http2` without a framework: `true`, the request may go on;
 * `false`, it has been answered, or its caller has gone. Rejects when a function of the options throws.
 * @throws ConfigError for options that mean nothing
 */
export function rateLimit(
  options: GateOptions<[IncomingMessage, ServerResponse]>,
): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  const gate = createGate(options)
  return async (request, response) => {
    const verdict = await judged(gate, arrivalOf(request, [request, response]), {
      response,
      setHeader: (name, value) => response.setHeader(name, value),
      getHeader: (name) => response.getHeader(name),
      show: (name, info) => Object.assign(request, { [name]: info }),
    })
    if (verdict?.refusal !== undefined) refuse(response, verdict.refusal)
    return verdict !== undefined && verdict.refusal === undefined
  }
}
