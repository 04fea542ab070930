import { ConfigError } from '@sluice/limiter/errors'
import { createOffenders } from '@sluice/limiter/offenders'
import {
  anyOf,
  checkOptions,
  func,
  having,
  listOf,
  type OptionCheck,
  objectOf,
  oneOf,
  textCheck,
  that,
} from '@sluice/limiter/options'
import type { Timers } from '@sluice/limiter/time'
import { bearerToken, tokenCheck } from '../admin/bearer-token.ts'
import { EventStreams } from '../admin/event-streams.ts'
import { LOOPBACK } from '../admin/foreign-pages.ts'
import { everySecond } from '../every-second.ts'
import type { Instruments } from '../instruments.ts'
import { type KeyForm, keyShown } from '../key-shown.ts'
import { LiveFigures } from '../live/live-figures.ts'
import { dashboardCalls } from './dashboard-calls.ts'
import { type FetchHandler, fetchHandler } from './fetch-handler.ts'
import { type NodeHandler, nodeHandler } from './node-handler.ts'

export interface DashboardOptions {
  /**
   * What calls must bring: `authorization: Bearer TOKEN`, 16 visible characters or more; the page asks for it. `false`:
   * something in front decides who may look; then keys can be neither looked up nor changed.
   */
  readonly token: string | false
  /** Where it is mounted, such as `/sluice`, for servers that leave this in the URL. Default: it is cut off. */
  readonly path?: string
  /**
   * Names, without port, under which it may be asked. Default: any with a token, and without one `localhost` and the
   * addresses of this machine itself, so that no page can reach it by a name of the page's own.
   */
  readonly hosts?: readonly string[]
  /**
   * How keys are shown: `plain`, as the limiters have them, or `hashed`. Default `plain`: a key that is made of a secret
   * is best hashed where it is made.
   */
  readonly keys?: KeyForm
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly wallClock?: () => number
  /** Default: the platform's. */
  readonly timers?: Timers
}

/** A dashboard for servers of `node:http` and what is built on it; and for those of the Fetch standard. */
export interface Dashboard extends NodeHandler {
  /** For Hono, Bun, Deno and all that give a Response for a Request. */
  readonly fetch: FetchHandler
  /** Ends the streams of open pages, which a server that stops would wait for. */
  close(): void
}

const OPTIONS: OptionCheck = objectOf<DashboardOptions>(
  {
    token: anyOf(
      that('false', (value) => value === false),
      tokenCheck,
    ),
    path: that('a path such as /sluice', (value) => /^(?:\/[\w.~-]+)+$/.test(String(value))),
    hosts: listOf(textCheck),
    keys: oneOf('plain', 'hashed'),
    wallClock: func,
    timers: having('timers', 'setTimeout', 'clearTimeout'),
  },
  ['token'],
  { what: 'an object with a token, such as { token: process.env.SLUICE_TOKEN }' },
)

/**
 * The service's dashboard for an app: live traffic, how full each limit is, who is refused, one key. Figures are of this
 * process, and count from here on.
 * @throws ConfigError for invalid options, such as a token that is missing or short
 * @example
 * app.use('/sluice', dashboard(instruments, { token: process.env.SLUICE_TOKEN! })) // Express
 * app.all('/sluice/*', (c) => page.fetch(c.req.raw)) // Hono, with the option path: '/sluice'
 */
export function dashboard(instruments: Instruments, options: DashboardOptions): Dashboard {
  checkOptions(options, OPTIONS)
  const { token, path = '', hosts, keys, wallClock: now = Date.now, timers } = options
  const { tallies, stores, policies } = instruments
  const since = now()
  const counts = (domain: string, policy: string): boolean => policies.find(domain, policy) !== undefined
  const live = (): { version: string; since: number; origin: 'app' } => ({
    version: String(policies.size),
    since,
    origin: 'app',
  })
  const figures = new LiveFigures({
    tallies,
    stores,
    rules: () => ({ live: live(), failure: undefined }),
    counts,
    now,
  })
  const offenders = createOffenders({ counts, now })
  instruments.add(figures.observe, offenders.observe)
  const streams = new EventStreams()
  const stop = everySecond(() => {
    figures.tick()
    streams.tick()
  }, timers)
  const answer = dashboardCalls({
    instruments,
    figures,
    offenders,
    streams,
    show: keyShown(keys),
    brings: token === false ? undefined : bearerToken(token),
    names: namesOf(hosts, token),
    since,
  })
  return Object.assign(nodeHandler(answer, path), {
    fetch: fetchHandler(answer, path),
    close() {
      stop()
      streams.close()
    },
  })
}

function namesOf(hosts: readonly string[] | undefined, token: string | false): (host: string) => boolean {
  if (hosts === undefined) return token === false ? (host) => LOOPBACK.test(host) : () => true
  if (hosts.length === 0) throw new ConfigError('hosts must have a name', { path: ['hosts'] })
  const names = new Set(hosts.map((name) => name.toLowerCase()))
  return (host) => names.has(host)
}
