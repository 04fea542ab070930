import { HttpError } from './problem.ts'

/** Everyone's name for the machine itself. */
export const LOOPBACK: RegExp = /^(?:localhost|127(?:\.\d+){3}|::1)$/

/** What of a request says which page sent it. */
export interface PageRequest {
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly contentType: string | undefined
  /** Whether the server itself speaks TLS. */
  readonly tls?: boolean
}

/**
 * Why a request is refused that a page in an operator's browser may have sent: it came under a name that is not the
 * server's, or from another origin, or it changes something without `content-type: application/json`, which no form can
 * send. `undefined`: it is not.
 * @param isOwn whether a host, without its port, is a name of the server
 * @param seeAlso the option that adds names
 * @example
 * foreignPage(request, (host) => host === 'localhost', '--admin-host')?.statusCode
 */
export function foreignPage(
  { method, host = '', origin, contentType = '', tls = false }: PageRequest,
  isOwn: (host: string) => boolean,
  seeAlso: string,
): HttpError | undefined {
  const name = hostOf(host)
  if (!isOwn(name))
    return new HttpError(
      421,
      `the header host is none of the names under which this may be asked; see ${seeAlso}`,
    )
  // Where a proxy in front speaks TLS, the dashboard's own origin is one of https; no proxy is reached as localhost.
  const schemes = tls ? ['https'] : LOOPBACK.test(name) ? ['http'] : ['http', 'https']
  const ownOrigins = schemes.map((scheme) => `${scheme}://${host.toLowerCase()}`)
  if (origin !== undefined && !ownOrigins.includes(origin.toLowerCase()))
    return new HttpError(403, 'requests of pages from elsewhere are refused (origin)')
  const changes = method !== 'GET' && method !== 'HEAD'
  if (changes && !/^application\/json\s*(?:;|$)/i.test(contentType))
    return new HttpError(415, 'send content-type: application/json')
  return undefined
}

/** Without port and brackets, in lower case. */
function hostOf(header: string): string {
  return header
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
}
