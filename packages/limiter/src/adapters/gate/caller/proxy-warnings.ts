import type { FrameworkArgs, IncomingRequest } from '../incoming-request.ts'
import type { GateSettings } from '../options/settings.ts'
import { warningsOf } from '../options/warnings.ts'
import { trustsProxies } from './caller.ts'

/** Looks at the first requests, and warns, once each, of what the configuration seems to miss. */
export type RequestWatch<N extends FrameworkArgs> = (
  incoming: IncomingRequest<N>,
  address: string | undefined,
) => void

/** So many requests are looked at; that all of them came from one address is odd. */
const FIRST = 1_000
const FORWARDED = [
  ['x-forwarded-for', 'xForwardedForHeader'],
  ['forwarded', 'forwardedHeader'],
] as const
const SEE = 'see https://github.com/sluice-limiter/sluice/blob/main/docs/frameworks/README.md#behind-a-proxy'

/** `undefined` where addresses do not matter, or where the options say that no proxy is trusted. */
export function proxyWarnings<N extends FrameworkArgs>(
  settings: GateSettings<N>,
): RequestWatch<N> | undefined {
  const { key, proxyHeader = 'x-forwarded-for', logger } = settings
  const warns = warningsOf(settings.validate)
  const trusts = trustsProxies(settings)
  const watched = FORWARDED.filter(([, warning]) => warns(warning)).map(([header]) => header)
  const addresses = warns('oneAddress')
  if ((watched.length === 0 && !addresses) || key !== undefined || trusts === false) return undefined
  const trusted = trusts ? proxyHeader : undefined
  let ignored = false
  let first: string | undefined
  let alike = 0
  let left = FIRST
  return (incoming, from) => {
    if (left === 0) return
    left--
    const unread = ignored ? undefined : unreadHeader(incoming.headers, watched, trusted)
    if (unread !== undefined) {
      ignored = true
      const why = trusted === undefined ? 'trustProxy is not set' : `proxyHeader is ${trusted}`
      logger.warn(
        `rate limit: requests carry ${unread}, which is ignored, since ${why}: all clients behind one proxy count as one caller; ${SEE}`,
      )
    }
    if (alike === 0) first = from
    if (from === first) alike++
    if (alike === FIRST && addresses) {
      logger.warn(
        `rate limit: the first ${FIRST} requests all came from ${from}; if that is a proxy, set trustProxy; ${SEE}`,
      )
    }
  }
}

function unreadHeader(
  headers: Readonly<Record<string, string | undefined>>,
  watched: readonly string[],
  trusted: string | undefined,
): string | undefined {
  if (trusted !== undefined && headers[trusted] !== undefined) return undefined
  return watched.find((name) => headers[name] !== undefined)
}
