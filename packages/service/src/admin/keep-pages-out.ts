import { isIP } from 'node:net'
import { ConfigError } from '@sluice/limiter'
import { isLoopback, type ListenAddress } from '../address.ts'
import type { App } from '../app.ts'
import { HttpError } from '../problem.ts'

const NAME = /^(?!-)[\w-]{1,63}(?:\.[\w-]{1,63})*$/

/**
 * Whether a host is one of a listener's own names: the address that it listens at, names that were added, and what
 * always means this machine where that reaches it. At every address of a machine any address is its own: a page
 * reaches it under a name of the page's own (DNS rebinding), never under an address.
 * @param more further names, such as `sluice-admin.internal`
 * @throws ConfigError for what is no name
 */
export function ownNames({ host }: ListenAddress, more: readonly string[] = []): (host: string) => boolean {
  const everywhere = host === '::' || host === '0.0.0.0'
  const names = new Set([host, ...more].map((name) => name.toLowerCase()))
  for (const name of more) {
    if (!NAME.test(name) && isIP(name) === 0)
      throw new ConfigError(`${JSON.stringify(name)} is not the name of a host, such as sluice.internal`, {
        path: ['adminHosts'],
      })
  }
  const onLoopback = everywhere || isLoopback(host)
  return (asked) => names.has(asked) || (onLoopback && isLoopback(asked)) || (everywhere && isIP(asked) !== 0)
}

/**
 * Refuses what a page in an operator's browser can send: requests under a name that is not the listener's, from another
 * origin, and calls that change something without `content-type: application/json`, which no form can send.
 * @param tls whether the listener itself speaks TLS
 */
export function keepPagesOut(app: App, isOwn: (host: string) => boolean, tls: boolean): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { host, origin, 'content-type': type = '' } = request.headers
    if (!isOwn(hostOf(host ?? '')))
      return done(new HttpError(421, 'the header host is none of this listener’s names; see --admin-host'))
    // Where a proxy in front speaks TLS, the dashboard's own origin is one of https; no proxy is reached as localhost.
    const schemes = tls ? ['https'] : isLoopback(hostOf(host ?? '')) ? ['http'] : ['http', 'https']
    const ownOrigins = schemes.map((scheme) => `${scheme}://${host?.toLowerCase()}`)
    if (origin !== undefined && !ownOrigins.includes(origin.toLowerCase()))
      return done(new HttpError(403, 'requests of pages from elsewhere are refused (origin)'))
    const changes = request.method !== 'GET' && request.method !== 'HEAD'
    if (changes && request.routeOptions.url !== undefined && !/^application\/json\s*(?:;|$)/i.test(type))
      return done(new HttpError(415, 'send content-type: application/json'))
    done()
  })
}

/** Without port and brackets, in lower case. */
function hostOf(header: string): string {
  return header
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
}
