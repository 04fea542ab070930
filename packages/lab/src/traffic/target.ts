import type { Request } from '@sluice/limiter/rules'

const ABSOLUTE = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)(.*)$/is

/** Path, query and host of a request target (RFC 9112 §3.2), such as `/search?q=x` or `http://shop.example/`. */
export function readTarget(target: string): Pick<Request, 'path' | 'query' | 'host'> {
  const [, host, rest = target] = ABSOLUTE.exec(target) ?? []
  const [, path = '', query] = /^([^?]*)(?:\?(.*))?$/s.exec(rest)!
  return {
    path: path || '/',
    ...(host && { host }),
    ...(query && { query: Object.fromEntries(new URLSearchParams(query)) }),
  }
}
