import { isIP } from 'node:net'
import { ConfigError } from '@sluice/limiter'
import { foreignPage, LOOPBACK } from '@sluice/observe/parts'
import type { ListenAddress } from '../address.ts'
import type { App } from '../app.ts'

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
  const onLoopback = everywhere || LOOPBACK.test(host)
  return (asked) =>
    names.has(asked) || (onLoopback && LOOPBACK.test(asked)) || (everywhere && isIP(asked) !== 0)
}

/**
 * Refuses what a page in an operator's browser can send: see {@link foreignPage}.
 * @param tls whether the listener itself speaks TLS
 */
export function keepPagesOut(app: App, isOwn: (host: string) => boolean, tls: boolean): void {
  app.addHook('onRequest', ({ method, headers, routeOptions }, _reply, done) => {
    const { host, origin, 'content-type': contentType } = headers
    const fault = foreignPage({ method, host, origin, contentType, tls }, isOwn, '--admin-host')
    // What is not there, or not taken, says so itself.
    done(fault?.statusCode === 415 && routeOptions.url === undefined ? undefined : fault)
  })
}
