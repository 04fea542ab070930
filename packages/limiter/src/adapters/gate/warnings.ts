import type { Arrival, Native } from './arrival.ts'
import type { Settings } from './settings.ts'
import { trustsProxies } from './whose.ts'

/** Looks at the first requests, and warns, once each, of what the configuration seems to miss. */
export type Watch<N extends Native> = (arrival: Arrival<N>, address: string | undefined) => void

/** So many requests are looked at; that all of them came from one address is odd. */
const FIRST = 1_000
const FORWARDED = ['x-forwarded-for', 'forwarded'] as const
const SEE = 'see docs/frameworks/README.md#behind-a-proxy'

/** `undefined`: nothing to watch, where addresses decide nothing, or where no proxy is believed on purpose. */
export function watchOf<N extends Native>(settings: Settings<N>): Watch<N> | undefined {
  const { validate = true, key, proxyHeader = 'x-forwarded-for', logger } = settings
  const trusts = trustsProxies(settings)
  if (!validate || key !== undefined || trusts === false) return undefined
  const trusted = trusts ? proxyHeader : undefined
  let ignored = false
  let first: string | undefined
  let alike = 0
  let left = FIRST
  return (arrival, from) => {
    if (left === 0) return
    left--
    const unread = ignored ? undefined : unreadHeader(arrival.headers, trusted)
    if (unread !== undefined) {
      ignored = true
      const why = trusted === undefined ? 'trustProxy is not set' : `proxyHeader is ${trusted}`
      logger.warn(
        `rate limit: requests carry ${unread}, which is not believed, since ${why}: whoever comes through one proxy counts as one caller; ${SEE}`,
      )
    }
    if (alike === 0) first = from
    if (from === first) alike++
    if (alike === FIRST) {
      logger.warn(
        `rate limit: the first ${FIRST} requests all came from ${from}; if that is a proxy, say so by trustProxy; ${SEE}`,
      )
    }
  }
}

function unreadHeader(
  headers: Readonly<Record<string, string | undefined>>,
  trusted: string | undefined,
): string | undefined {
  if (trusted !== undefined && headers[trusted] !== undefined) return undefined
  return FORWARDED.find((name) => headers[name] !== undefined)
}
