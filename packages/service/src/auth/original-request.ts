import type { IncomingMessage } from 'node:http'
import { clientAddress, parseAddress, valuesAt } from '@sluice/limiter/address'
import type { Question } from '@sluice/limiter/pipeline'
import { type AuthOptions, trustedNetworks } from './auth-options.ts'
import type { AuthTarget } from './auth-target.ts'

export type OriginalRequest = NonNullable<Question['request']>

/** Finds the request that a proxy asks about. */
export type ReadOriginal = (asking: IncomingMessage, target: AuthTarget) => OriginalRequest

/** Headers in which proxies say what the original request was: those of the first that is there. */
const METHOD = ['x-forwarded-method', 'x-original-method']
const URI = ['x-forwarded-uri', 'x-original-uri', 'x-original-url']
const HOST = ['x-forwarded-host']
const CLIENT = 'x-forwarded-for'
const SAID_BY_PROXIES = [...METHOD, ...URI, ...HOST, CLIENT, 'x-forwarded-proto']

/** `https://shop.example/login` as ingress controllers send it: the scheme and the authority. */
const ORIGIN = /^[a-z][\w+.-]*:\/\/([^/?#]*)/i

/**
 * Translates a proxy's question. Where the path behind `/auth` has the original path (Envoy), the method and the host
 * are those of the question itself, and only the client's address is read from a header: else a client could send
 * `X-Forwarded-Uri` through a proxy that passes headers on. Otherwise all of them are read from headers. Headers of
 * peers that are not trusted are ignored, and no rule sees them.
 * @param warn is called once for each kind of question that the configuration seems not to be meant for
 */
export function originalReader(options: AuthOptions, warn: (message: string) => void): ReadOriginal {
  const networks = trustedNetworks(options)
  const addressOf = clientAddress({ trusted: options.trusted ?? [] })
  const isTrusted = (peer: string | undefined): boolean => {
    const address = peer === undefined ? undefined : parseAddress(peer)
    return address !== undefined && valuesAt(networks, address).length > 0
  }
  const warned = new Set<string>()
  const warnOnce = (kind: string, message: string): void => {
    if (warned.has(kind)) return
    warned.add(kind)
    warn(message)
  }
  return ({ headers, method = 'GET', socket: { remoteAddress: peer } }, { original }) => {
    const trusts = isTrusted(peer)
    const said = (names: readonly string[]): string | undefined => {
      const name =
        trusts && original === undefined ? names.find((each) => headers[each] !== undefined) : undefined
      return name === undefined ? undefined : (headers[name] as string)
    }
    if (!trusts && SAID_BY_PROXIES.some((name) => headers[name] !== undefined))
      warnOnce(
        'untrusted',
        `/auth: what ${peer} says of the original request in headers is ignored: it is not among the trusted proxies; see --trusted`,
      )
    const uri = said(URI) ?? original
    if (trusts && uri === undefined)
      warnOnce('uri', `/auth: ${peer} sends no X-Forwarded-Uri, so every path counts as /`)
    if (trusts && headers[CLIENT] === undefined)
      warnOnce('client', `/auth: ${peer} sends no X-Forwarded-For, so all clients count as that one address`)
    const [origin = '', authority] = ORIGIN.exec(uri ?? '') ?? []
    const host = said(HOST) ?? authority ?? headers.host
    const ip = addressOf(peer, headers[CLIENT] as string | undefined)
    return {
      ...requestAt((uri ?? '/').slice(origin.length)),
      method: said(METHOD) ?? method,
      headers: textHeaders(headers, trusts),
      ...(host !== undefined && { host }),
      ...(ip !== undefined && { ip }),
    }
  }
}

/** The path and the query of a request's target. */
export function requestAt(target: string): Pick<OriginalRequest, 'path' | 'query'> {
  const cut = target.indexOf('?')
  if (cut < 0) return { path: target || '/' }
  return {
    path: target.slice(0, cut) || '/',
    query: Object.fromEntries(new URLSearchParams(target.slice(cut))),
  }
}

function textHeaders(headers: IncomingMessage['headers'], trusts: boolean): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (typeof value === 'string' && (trusts || !SAID_BY_PROXIES.includes(name))) kept[name] = value
  }
  return kept
}
