import type { FrameworkArgs, PerRequest } from '../../adapters/gate/incoming-request.ts'
import type { GateOptions, RequestKey } from '../../adapters/gate/options/options.ts'
import { ConfigError } from '../../core/errors.ts'
import {
  anyOf,
  anything,
  flag,
  func,
  having,
  listOf,
  type OptionCheck,
  type OptionFields,
  objectOf,
  oneOf,
  recordOf,
  textCheck,
  that,
  under,
  wholeFrom,
} from '../../core/options.ts'
import { chosenOf } from '../../core/respond/chosen-dialects.ts'
import type { DialectWriter } from '../../core/respond/dialect.ts'
import type { Limiter } from '../../limiter-of.ts'

/** Options that mean here what they mean in every adapter. */
type SharedOption =
  | 'cost'
  | 'skip'
  | 'skipFailedRequests'
  | 'skipSuccessfulRequests'
  | 'requestWasSuccessful'
  | 'settleCost'
  | 'statusCode'
  | 'message'
  | 'headers'
  | 'retryAfter'
  | 'exposeHeaders'
  | 'requestPropertyName'
  | 'maxWaiting'
  | 'onLimitReached'
  | 'observe'
  | 'logger'
  | 'timers'
  | 'wallClock'

/** What the small adapters take: a limiter, a key, and how to answer. */
export interface EdgeOptions<N extends FrameworkArgs> extends Pick<GateOptions<N>, SharedOption> {
  /** Decides: of @sluice/limiter/edge, or any other. */
  readonly limiter: Limiter<string, boolean, string>
  /**
   * Whom a request counts for: `undefined` and `''` stand for none. Where policies name fields, an object of keys. For
   * an address give `ipKey(address)`: a whole IPv6 address is one of very many that one host has.
   */
  readonly key: PerRequest<N, RequestKey | Readonly<Record<string, RequestKey>>>
  /** What becomes of a request without a key: not limited, in one bucket with all that lack it, or refused. Default: an error. */
  readonly onMissingKey?: 'skip' | 'share' | 'deny'
  /** Header dialects, as objects of @sluice/limiter/edge or one's own; `[]` for none. Default `ietf`. */
  readonly dialect?: DialectWriter | readonly DialectWriter[]
  /** While a shared store is slow or down, and no FallbackStore stands before it: admit (default), or answer 503. */
  readonly onStoreError?: 'open' | 'closed'
}

const perRequest = /* @__PURE__ */ that('a function of the request', (value) => typeof value === 'function')

/** Checks of these options; an adapter adds those that it reads itself. */
function edgeFields(): OptionFields<EdgeOptions<FrameworkArgs>> {
  return {
    limiter: having('a limiter', 'check', 'peek', 'reserve', 'refund', 'reset'),
    key: perRequest,
    onMissingKey: oneOf('skip', 'share', 'deny'),
    cost: anyOf(wholeFrom(0), recordOf(wholeFrom(0), 'an object with a cost for each policy'), perRequest),
    skip: perRequest,
    skipFailedRequests: flag,
    skipSuccessfulRequests: flag,
    requestWasSuccessful: func,
    settleCost: func,
    statusCode: wholeFrom(400, 599),
    message: anything,
    dialect: dialectCheck,
    headers: oneOf('always', 'denied'),
    retryAfter: oneOf('seconds', 'date'),
    exposeHeaders: flag,
    requestPropertyName: textCheck,
    maxWaiting: wholeFrom(0),
    onLimitReached: func,
    onStoreError: oneOf('open', 'closed'),
    observe: func,
    logger: having('a logger', 'warn', 'error'),
    timers: having('timers', 'setTimeout', 'clearTimeout'),
    wallClock: func,
  }
}

/**
 * The writers of dialects that are given as objects.
 * @throws ConfigError for a name, what is no dialect, or two that would send the same header
 */
export function givenDialects(given: DialectWriter | readonly DialectWriter[]): readonly DialectWriter[] {
  const refuse = (name: string): never => {
    throw new ConfigError(`give the dialect ${JSON.stringify(name)} as an object of @sluice/limiter/edge`)
  }
  return chosenOf<DialectWriter, never>(given, refuse, ['headers'])
}

const dialectCheck: OptionCheck = (value, path) => {
  if (Array.isArray(value)) listOf(dialectCheck)(value, path)
  under([...path], () => givenDialects(value as DialectWriter))
  return undefined
}

const ELSEWHERE = 'only the adapters of @sluice/limiter/adapters have it; here give limiter and key'

/** A check of all of them. */
export function edgeCheck(own: Readonly<Record<string, OptionCheck>>): OptionCheck {
  return objectOf<EdgeOptions<FrameworkArgs>>({ ...edgeFields(), ...own }, ['limiter', 'key'], {
    what: 'an object with limiter and key',
    instead: { limit: ELSEWHERE, policies: ELSEWHERE, rules: ELSEWHERE, trustProxy: ELSEWHERE },
  })
}
