import type { Request } from '../../core/request.ts'
import type { FrameworkArgs, IncomingRequest } from './incoming-request.ts'

/** A request as rules and parts of keys look at it. */
export function factsRequest<N extends FrameworkArgs>(
  { method, url, host, headers }: IncomingRequest<N>,
  address: string | undefined,
): Request {
  const cut = url.indexOf('?')
  return {
    method,
    path: cut < 0 ? url : url.slice(0, cut),
    headers,
    ...(host === undefined ? undefined : { host }),
    ...(address === undefined ? undefined : { ip: address }),
    ...(cut < 0 ? undefined : { query: Object.fromEntries(new URLSearchParams(url.slice(cut))) }),
  }
}
