import { type Dispatch, DispatchedCall } from './outbound/dispatched-call.ts'
import { type Outbound, outboundOf } from './outbound/outbound.ts'
import type { OutboundCalls } from './outbound/outbound-calls.ts'
import type { OutboundOptions } from './outbound/outbound-options.ts'
import { GivenRequest } from './outbound/outbound-request.ts'

export type { Dispatch, DispatchHandler, DispatchOptions } from './outbound/dispatched-call.ts'

/**
 * An interceptor for dispatchers of undici 7 and later: calls keep to the limits of those they go to.
 * @throws ConfigError for options that are wrong
 * @example
 * const dispatcher = new Agent().compose(outboundInterceptor({ destinations }))
 */
export function outboundInterceptor(
  options: OutboundOptions | Outbound = {},
): <D extends (options: never, handler: never) => boolean>(dispatch: D) => D {
  const { calls } = outboundOf(options)
  // The type of the dispatch is undici's own, which differs by its version.
  return <D>(dispatch: D) => intercepted(calls, dispatch as Dispatch) as D
}

function intercepted(calls: OutboundCalls, dispatch: Dispatch): Dispatch {
  return (given, handler) => {
    const url = new URL(given.path, given.origin)
    const request = new GivenRequest(given.method, url, headersOf(given.headers), given.body ?? undefined)
    const signal = given.signal instanceof AbortSignal ? given.signal : undefined
    calls.enter(new DispatchedCall(calls.partsOf(request, given.limits, signal), dispatch, given, handler))
    return true
  }
}

/** Undici takes objects, whose values may be lists, lists of names and values in turn, and whatever gives pairs. */
function headersOf(given: unknown): [string, string][] {
  if (typeof given !== 'object' || given === null) return []
  const pairs: [string, unknown][] = []
  if (Array.isArray(given) && !given.every(Array.isArray))
    for (let i = 0; i + 1 < given.length; i += 2) pairs.push([String(given[i]), given[i + 1]])
  else if (Symbol.iterator in given) pairs.push(...(given as Iterable<[string, unknown]>))
  else pairs.push(...Object.entries(given))
  return pairs.flatMap(([name, value]) =>
    value === undefined || value === null
      ? []
      : [[name, Array.isArray(value) ? value.join(', ') : String(value)]],
  )
}
