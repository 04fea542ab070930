import type { Clock } from '../../../clock.ts'
import type { ActualCost } from '../../../core/decide/charges.ts'
import type { CostByName } from '../../../core/decide/cost.ts'
import type { OnStoreError } from '../../../core/decide/rule.ts'
import type { KeyPartName } from '../../../core/identify/key-part.ts'
import type { Rules } from '../../../core/match/compiled-rules.ts'
import type { OnMissingKey } from '../../../core/match/domain.ts'
import type { Request } from '../../../core/request.ts'
import type { Dialects } from '../../../core/respond/dialect-writers.ts'
import type { Timers } from '../../../flow/timers.ts'
import type { Limiter, LimiterPolicy } from '../../../limiter.ts'
import type { Observer } from '../../../observe/events.ts'
import type { Key } from '../../../policy-steps.ts'
import type { Store } from '../../../stores/store.ts'
import type { FrameworkArgs, PerRequest, ResponseOutcome } from '../incoming-request.ts'
import type { RateLimitInfo } from '../verdict/info.ts'
import type { Warnings } from './warnings.ts'

/** A policy of an adapter: a limiter's, whose limit may depend on the request. */
export interface GatePolicy<N extends FrameworkArgs>
  extends Omit<LimiterPolicy, 'algorithm' | 'key' | 'limit' | 'onStoreError'> {
  /**
   * Whole, ≥ 0; 0 refuses everything. A function is given the key too, as lists name it; anything else that it gives
   * fails the request: it never means unlimited.
   */
  readonly limit: number | PerRequest<[...N, key: string | undefined], number>
  /**
   * Default: windows that open with a caller's first request (`token-bucket` with `refill: interval`), as libraries have
   * them that this one replaces, or `fixed-window` where the period is a calendar's. Both admit twice the limit around the
   * edge of a window; `sliding-window-counter` does not.
   */
  readonly algorithm?: LimiterPolicy['algorithm']
}

/** One of several policies. */
interface NamedPolicy<N extends FrameworkArgs> extends GatePolicy<N> {
  /** The field of the keys that counts here. All policies have one, or none. */
  readonly key?: string
}

/** A quota for some callers: the limit alone, or with what else differs. */
export type CallerQuota =
  | number
  | { readonly limit: number; readonly period?: number | string; readonly burst?: number }

/** Which limits apply: `limit` and `period`, or `policies`, or a `limiter`, or `rules`. */
interface QuotaOptions<N extends FrameworkArgs> extends Partial<GatePolicy<N>> {
  /** The policy's name in headers and problems. Default `default`. */
  readonly identifier?: string
  /**
   * Several policies, by name, decided as one: all are charged or none. The `key` of each can name a field of the keys
   * that the option `key` gives.
   */
  readonly policies?: Readonly<Record<string, NamedPolicy<N>>>
  /** A limiter that exists already. */
  readonly limiter?: Limiter<string, boolean, string>
  /** A compiled rulebook, or a function that gives the one in force. */
  readonly rules?: Rules | (() => Rules)
  /** Which domain of `rules`. */
  readonly domain?: string
  /** What `rules`, or parts of `key`, ask for beside the request itself: `user`, `tenant`, `plan`… */
  readonly attributes?: PerRequest<N, NonNullable<Request['attributes']>>
  /** Names the caller's plan, one of `plans`; any other name, and none, has the plain `limit`. */
  readonly plan?: PerRequest<N, string | undefined>
  readonly plans?: Readonly<Record<string, CallerQuota>>
  /** By key, address or CIDR: goes before `plans`. A key goes before a network, a narrow network before a wide one. */
  readonly overrides?: Readonly<Record<string, CallerQuota>>
}

/** What a user's function gives as a key. */
export type RequestKey = Key | number | undefined

/** What functions that give keys are called with: the client's address last, `undefined` where nothing tells it. */
export type KeyArgs<N extends FrameworkArgs> = [...N, address: string | undefined]

/** A part of a key: the name of one, as rulebooks have it, or a function that gives it. */
export type KeyPart<K extends FrameworkArgs> = KeyPartName | PerRequest<K, string | number | undefined>

/** Who calls, and which counter that charges. */
interface CallerOptions<N extends FrameworkArgs, K extends FrameworkArgs> {
  /**
   * Default: the client's address. A function is given that after the framework's own arguments. A number counts as its
   * text; `undefined` and `''` as none. Where policies name fields, an object of keys. Or a list of parts, each by name
   * or by a function: `['ip', 'header:x-team']`. A request that lacks one of them has no key.
   */
  readonly key?: PerRequest<K, RequestKey | Readonly<Record<string, RequestKey>>> | readonly KeyPart<K>[]
  /**
   * What becomes of a request without a key: counted by address (default), not limited, in one bucket with all
   * that lack it, or refused. Without an address too, `address` is an error.
   */
  readonly onMissingKey?: OnMissingKey | 'address'
  /** What replaces the socket's address: that of Bun or Deno, or what a CDN says in a header of its own. */
  readonly address?: PerRequest<N, string | undefined>
  /**
   * How many proxies stand in front, or their addresses and CIDRs, or names: `loopback`, `linklocal`, `uniquelocal` and
   * `cloudflare`. Default: none is trusted; `false` says that this is meant.
   */
  readonly trustProxy?: number | string | readonly string[] | false
  /** The header that those proxies write. Default `x-forwarded-for`. */
  readonly proxyHeader?: 'x-forwarded-for' | 'forwarded'
  /** Leading bits of IPv6 that make one caller, 32–128, or `false`: all. Default 64. A function is asked for each request. */
  readonly ipv6Subnet?: number | false | PerRequest<N, number | false>
  /** Leading bits of IPv4 that make one caller, 8–32. Default 32. */
  readonly ipv4Subnet?: number
  /** Keys, addresses and CIDRs that are not limited. */
  readonly allowList?: readonly string[]
  /** Keys, addresses and CIDRs that are refused with 403; goes before `allowList`. */
  readonly denyList?: readonly string[]
}

/** What counts, and how much. */
interface CountOptions<N extends FrameworkArgs> {
  /** Whole, ≥ 0. Default 1; 0 only looks. By name for policies that cost differently: those not named cost 1. */
  readonly cost?: number | CostByName | PerRequest<N, number | CostByName>
  /** Requests that are not limited at all. */
  readonly skip?: PerRequest<N, boolean>
  /**
   * Gives back what failed requests were charged. All are charged when they arrive, and so hold their place until
   * they are answered: of any number at once, no more than the limit are let in.
   */
  readonly skipFailedRequests?: boolean
  /** The same for those that succeed. */
  readonly skipSuccessfulRequests?: boolean
  /** Default: answered with a status below 400. A client that left before the answer counts as failed. */
  readonly requestWasSuccessful?: (...args: [...N, ResponseOutcome]) => boolean | PromiseLike<boolean>
  /** What the request really cost, known once it is answered: bytes, tokens. `undefined` leaves the `cost`. */
  readonly settleCost?: (
    ...args: [...N, ResponseOutcome]
  ) => ActualCost | undefined | PromiseLike<ActualCost | undefined>
}

/** What the client sees. */
interface ReplyOptions<N extends FrameworkArgs> {
  /** Of refusals by a quota. Default 429. */
  readonly statusCode?: number
  /** Body of refusals by a quota: text, or anything that JSON can say. Default: a problem (RFC 9457). */
  readonly message?: unknown | ((...args: [...N, RateLimitInfo]) => unknown)
  /** Header dialects, by name or as objects; `[]` for none. Default `ietf`. */
  readonly dialect?: Dialects
  /**
   * A short hash of the key, which the dialects `ietf` and `ietf-next` send as `pk`, so that clients can tell counters of
   * one policy apart. Default: none.
   */
  readonly partitionKey?: (key: string) => Uint8Array
  /** Send those headers always (default), or on refusals only. */
  readonly headers?: 'always' | 'denied'
  readonly retryAfter?: 'seconds' | 'date'
  /** Lengthens Retry-After by up to this share, 0–1, differently for each key. */
  readonly jitter?: number
  /** Lets scripts of other origins read the headers (`Access-Control-Expose-Headers`). */
  readonly exposeHeaders?: boolean
  /** Where the application finds the figures. Default `rateLimit`. */
  readonly requestPropertyName?: string
  /** Keeps refusals waiting: milliseconds or text, up to `1m`. */
  readonly tarpit?: number | string
  /** Most requests kept waiting at once, by `tarpit` or for their turn. Beyond it no request waits. Default 1000. */
  readonly maxWaiting?: number
  readonly onLimitReached?: (...args: [...N, RateLimitInfo]) => unknown
}

/** Where counters are, and who observes. */
interface StoreOptions {
  /** Names the counters in `store`; needed with one. Limiters of one name and policy share them. */
  readonly name?: string
  /** Default: a MemoryStore of its own. Any other is held to `deadlineMs` by a FallbackStore. */
  readonly store?: Store
  /** While the store is slow or down: admit (default), answer 503, or decide in this process. */
  readonly onStoreError?: OnStoreError
  /** Milliseconds that the store has to answer. Default 50. */
  readonly deadlineMs?: number
  readonly observe?: Observer
  /** Default `console`. */
  readonly logger?: Logger
  /** Warn, once each, of what looks misconfigured. Default true; or each warning by its name. */
  readonly validate?: boolean | Warnings
  /** Of the counters, where they are in this process. Default: the process's monotonic clock. For tests: docs/testing.md. */
  readonly clock?: Clock
  /** Default: the platform's. */
  readonly timers?: Timers
  /** Milliseconds since the epoch, for dates in headers. Default: `clock`, or the system's, read once a second. */
  readonly wallClock?: () => number
}

export interface Logger {
  warn(message: string): void
  error(message: string): void
}

/** Names that express-rate-limit, hono-rate-limiter and @fastify/rate-limit have for the same things. */
export interface AliasOptions<N extends FrameworkArgs, K extends FrameworkArgs = KeyArgs<N>> {
  /** `limit` */
  readonly max?: GatePolicy<N>['limit']
  /**
   * `period`. Without an `algorithm` requests are counted in windows: up to twice the limit is admitted around the edge of
   * one.
   */
  readonly windowMs?: number | string
  /** The same as `windowMs`. */
  readonly timeWindow?: number | string
  /** `key` */
  readonly keyGenerator?: CallerOptions<N, K>['key']
  /** `onStoreError`: true admits, false answers 503. */
  readonly passOnStoreError?: boolean
  /** The same. */
  readonly skipOnError?: boolean
  /** `dialect`: `draft-6` (also true), `draft-7` or `draft-8`. */
  readonly standardHeaders?: boolean | 'draft-6' | 'draft-7' | 'draft-8'
  /** `dialect`: `x-ratelimit-epoch`. */
  readonly legacyHeaders?: boolean
}

/** All that the adapters have in common. An unknown name, or two that say the same, is a ConfigError. */
export interface GateOptions<N extends FrameworkArgs, K extends FrameworkArgs = KeyArgs<N>>
  extends QuotaOptions<N>,
    CallerOptions<N, K>,
    CountOptions<N>,
    ReplyOptions<N>,
    StoreOptions,
    AliasOptions<N, K> {}
