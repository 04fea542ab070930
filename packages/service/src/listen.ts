import { ConfigError } from '@sluice/limiter'
import type { ListenAddress } from './address.ts'
import type { App } from './app.ts'

/** What the system says of an address that it does not give, in words. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not listen at this port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
}

/**
 * @param option that gave the address, for the log and for errors
 * @returns where it listens, as a URL
 * @throws ConfigError for an address that cannot be had
 */
export async function listen(app: App, address: ListenAddress, option: 'http' | 'admin'): Promise<string> {
  try {
    return await app.listen({ ...address, listenTextResolver: (url) => `${option} listens at ${url}` })
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!Object.hasOwn(REASONS, code)) throw error
    throw new ConfigError(
      `${option}: cannot listen at ${textOf(address)}: ${REASONS[code]} (${code}); choose another address`,
      { cause: error, path: [option] },
    )
  }
}

function textOf({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
