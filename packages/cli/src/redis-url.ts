/** Where a Redis is, and how to get in. */
export interface RedisAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster'
  readonly tls: boolean
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  /** The name under which the sentinels know it. */
  readonly master: string
  readonly db: number
  readonly username?: string
  readonly password?: string
}

/** How such a URL may be written; with TLS it begins with `rediss`. */
export const URL_FORMS: readonly string[] = [
  'redis://HOST:PORT/DB',
  'redis+sentinel://HOST:PORT,HOST:PORT/MASTER/DB',
  'redis+cluster://HOST:PORT,HOST:PORT',
]

const URL = /^redis(s)?(?:\+(sentinel|cluster))?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^@/?#]+)(?:\/([^?#]*))?$/
const URL_HOST = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i

/** `undefined` when `url` is of none of the {@link URL_FORMS}. A user and password stand before an `@`, percent-encoded. */
export function readRedisUrl(url: string): RedisAddress | undefined {
  const [, tls, kind = 'single', username, password, list, path = ''] = URL.exec(url) ?? []
  const hosts = list?.split(',').map((text) => hostOf(text, kind === 'sentinel' ? 26_379 : 6_379)) ?? []
  const segments = path === '' ? [] : path.split('/')
  const master = kind === 'sentinel' ? (segments.shift() ?? '') : ''
  const db = Number(segments[0] ?? 0)
  if (hosts.length === 0 || !hosts.every(isHost) || (kind === 'single' && hosts.length > 1)) return undefined
  if ((kind === 'sentinel' && master === '') || segments.length > (kind === 'cluster' ? 0 : 1))
    return undefined
  if (!/^\d{1,5}$/.test(segments[0] ?? '0')) return undefined
  const login = decodedLogin({ username, password })
  return login && { kind: kind as RedisAddress['kind'], tls: tls !== undefined, hosts, master, db, ...login }
}

type Host = RedisAddress['hosts'][number]

function hostOf(text: string, standardPort: number): Host | undefined {
  const [, ipv6, name, port = standardPort] = URL_HOST.exec(text) ?? []
  const host = ipv6 ?? name
  return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) }
}

function isHost(host: Host | undefined): host is Host {
  return host !== undefined
}

/** `undefined` for what is not percent-encoded as it should be. */
function decodedLogin(login: Record<string, string | undefined>): Record<string, string> | undefined {
  try {
    const given = Object.entries(login).filter(([, value]) => value)
    return Object.fromEntries(given.map(([name, value]) => [name, decodeURIComponent(value!)]))
  } catch {
    return undefined
  }
}

/** The URL of an address, without user and password. */
export function redisUrl({ kind, tls, hosts, master, db }: RedisAddress): string {
  const scheme = `redis${tls ? 's' : ''}${kind === 'single' ? '' : `+${kind}`}`
  const list = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
  const path = [master, ...(db === 0 ? [] : [db])].filter((part) => part !== '')
  return [`${scheme}://${list.join(',')}`, ...path].join('/')
}
