import { receiptOf } from '../../core/decide/decision.ts'
import {
  type CallFields,
  checkCall,
  checkOptions,
  func,
  type OptionFields,
  objectOf,
  wholeFrom,
} from '../../core/options.ts'
import { type Event, type Observer, observerOf } from '../events.ts'
import { cutCounts, type KeyCounts, mergeCounts } from './key-counts.ts'
import { mergedRoutes, routeWithKey, withRoutes } from './key-routes.ts'
import { keyHash } from './key-table.ts'
import {
  minuteOf,
  OFFENDER_WINDOWS,
  type OffenderWindow,
  RecentCounts,
  windowStart,
} from './recent-counts.ts'
import { routeReader } from './route.ts'

/** Who met one policy most often. */
export interface OffenderList {
  readonly domain: string
  readonly policy: string
  readonly window: OffenderWindow
  /** Since when it counts, in milliseconds since the epoch. */
  readonly since: number
  /** Keys over the policy's limit: refused, or in shadow mode and at low priority those that would have been. */
  readonly denied: KeyCounts
  /** Keys of all requests that the policy decided. */
  readonly busiest: KeyCounts
  /** Routes of all these requests, as its keys. Requests without a path have none. */
  readonly routes: KeyCounts
}

export interface OffendersOptions {
  /** Keys that are counted for each policy. Default 100: a figure is wrong by at most 1 % of the requests. */
  readonly counters?: number
  /** Policies that are counted. Default 100; those that come later are left out until one has seen no request for a day. */
  readonly maxPolicies?: number
  /** Whether a policy is counted at all. Default: each one. */
  readonly counts?: (domain: string, policy: string) => boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number
}

/** Which lists are asked for. Default: of every policy, the last five minutes, 10 keys. */
export interface OffendersQuery {
  readonly domain?: string
  readonly policy?: string
  readonly window?: OffenderWindow
  /** Keys in each list. */
  readonly top?: number
}

/** The keys that policies refuse most often, and those that come most often. */
export interface Offenders {
  /** Counts decisions; looks are not counted, nor refusals without the store. */
  readonly observe: Observer
  /**
   * Those policies first that refused most.
   * @throws TypeError for a query that it does not have
   */
  list(query?: OffendersQuery): readonly OffenderList[]
  /** Decisions of policies beyond `maxPolicies`. */
  readonly leftOut: number
}

/** What the options of offenders may be. */
export const offendersFields: OptionFields<OffendersOptions> = {
  counters: wholeFrom(1),
  maxPolicies: wholeFrom(1),
  counts: func,
  now: func,
}
const OPTIONS = /* @__PURE__ */ objectOf(offendersFields)
const QUERY: CallFields = /* @__PURE__ */ new Map([
  ['domain', 'string'],
  ['policy', 'string'],
  ['window', 'string'],
  ['top', 'number'],
])

interface Watch {
  readonly domain: string
  readonly policy: string
  readonly denied: RecentCounts
  readonly all: RecentCounts
  readonly routes: RecentCounts
  /** Routes with the keys that were denied on them. */
  readonly deniedOn: RecentCounts
}

/** All that is counted of one policy. */
function countsOf({ denied, all, routes, deniedOn }: Watch): readonly RecentCounts[] {
  return [denied, all, routes, deniedOn]
}

/**
 * Counts who is refused, and who comes most often, by policy, over the last minutes and the last day, in memory that
 * does not grow with keys. With `counters` m, of N requests in a window: every key with more than N/m is listed, and no
 * figure is wrong by more than N/m. Routes, and keys on routes, are counted alike. A policy with many keys and routes
 * takes about 0.8 MB at 100 counters.
 * @throws ConfigError for invalid options
 * @example
 * const offenders = createOffenders()
 * const limiter = createLimiter({ policies, observe: offenders.observe })
 * offenders.list({ policy: 'login', window: '1d' })[0]?.denied.keys
 */
export function createOffenders(options: OffendersOptions = {}): Offenders {
  checkOptions(options, OPTIONS)
  const { counters = 100, maxPolicies = 100, counts = () => true, now = Date.now } = options
  const domains = new Map<string, Map<string, Watch>>()
  const watches = new Set<Watch>()
  const readRoute = routeReader()
  let minute = minuteOf(now())
  let leftOut = 0

  const turn = (): void => {
    const present = minuteOf(now())
    if (present <= minute) return // a clock that steps back counts into the present minute
    minute = present
    for (const watch of watches) {
      for (const counts of countsOf(watch)) counts.turn(minute)
      if (!watch.all.isEmpty) continue
      watches.delete(watch)
      domains.get(watch.domain)!.delete(watch.policy)
    }
  }
  const watchOf = (domain: string, policy: string): Watch | undefined => {
    const known = domains.get(domain)?.get(policy)
    if (known !== undefined) return known
    if (watches.size >= maxPolicies || !counts(domain, policy)) return undefined
    const none = (): RecentCounts => new RecentCounts(counters, minute)
    const watch = { domain, policy, denied: none(), all: none(), routes: none(), deniedOn: none() }
    watches.add(watch)
    if (!domains.has(domain)) domains.set(domain, new Map())
    domains.get(domain)!.set(policy, watch)
    return watch
  }
  const count = ({ domain, decision, method, path }: Extract<Event, { type: 'decided' }>): void => {
    const receipt = receiptOf(decision)
    if (receipt === undefined) return // a copy of a decision, which does not say whose it is
    turn()
    const route = readRoute(method, path)
    const routeHash = route === undefined ? 0 : keyHash(route)
    const { steps, outcome } = receipt
    for (let i = 0; i < steps.length; i++) {
      const { rule, key } = steps[i]!
      const watch = watchOf(domain, rule.name)
      if (watch === undefined) leftOut++
      else {
        const hash = keyHash(key)
        watch.all.add(key, hash)
        if (route !== undefined) watch.routes.add(route, routeHash)
        if (!outcome.figures[i]!.allowed && outcome.degraded !== true) {
          watch.denied.add(key, hash)
          if (route !== undefined) {
            const both = routeWithKey(route, key)
            watch.deniedOn.add(both, keyHash(both))
          }
        }
      }
    }
  }
  return {
    observe: observerOf(['decided'], (event) => {
      if (event.type === 'decided' && !event.peek) count(event)
    }),
    list(query = {}) {
      checkCall(query, QUERY)
      const { domain, policy, window = '5m', top = 10 } = query
      if (!OFFENDER_WINDOWS.includes(window))
        throw new TypeError(`window must be ${OFFENDER_WINDOWS.join(' or ')}, not ${JSON.stringify(window)}`)
      if (!(Number.isSafeInteger(top) && top >= 1))
        throw new TypeError(`top must be a whole number from 1, not ${top}`)
      turn()
      return [...watches]
        .filter(
          (watch) => (domain ?? watch.domain) === watch.domain && (policy ?? watch.policy) === watch.policy,
        )
        .map((watch) => ({
          domain: watch.domain,
          policy: watch.policy,
          window,
          since: windowStart(window, minute),
          denied: withRoutes(cutCounts(watch.denied.list(window), top), watch.deniedOn.list(window)),
          busiest: cutCounts(watch.all.list(window), top),
          routes: cutCounts(watch.routes.list(window), top),
        }))
        .sort((a, b) => b.denied.total - a.denied.total || b.busiest.total - a.busiest.total)
    },
    get leftOut() {
      return leftOut
    },
  }
}

/**
 * The lists of several nodes as those of one. Figures stay right: what a node does not list it bounds, so a merged
 * figure is wrong by at most the sum of the nodes' bounds.
 * @param top keys in each merged list
 * @example
 * mergeOffenders([nodeA.list({ top: 100 }), nodeB.list({ top: 100 })], 10)
 */
export function mergeOffenders(
  nodes: readonly (readonly OffenderList[])[],
  top: number,
): readonly OffenderList[] {
  const groups = new Map<string, OffenderList[]>()
  for (const list of nodes.flat()) {
    const name = JSON.stringify([list.domain, list.policy, list.window])
    groups.set(name, [...(groups.get(name) ?? []), list])
  }
  return [...groups.values()]
    .map((lists) => {
      const merged = (kind: 'denied' | 'busiest' | 'routes'): KeyCounts =>
        mergeCounts(
          lists.map((list) => list[kind]),
          top,
        )
      return {
        ...lists[0]!,
        since: Math.min(...lists.map(({ since }) => since)),
        denied: mergedRoutes(
          merged('denied'),
          lists.flatMap(({ denied }) => denied.keys),
        ),
        busiest: merged('busiest'),
        routes: merged('routes'),
      }
    })
    .sort((a, b) => b.denied.total - a.denied.total || b.busiest.total - a.busiest.total)
}
