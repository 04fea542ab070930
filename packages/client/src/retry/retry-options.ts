import { type Clock, monotonicClock } from '@sluice/limiter'
import type { Observer } from '@sluice/limiter/events'
import {
  above0,
  anyOf,
  checkOptions,
  flag,
  func,
  having,
  listOf,
  type OptionCheck,
  objectOf,
  oneOf,
  shareCheck,
  textCheck,
  that,
  wholeFrom,
} from '@sluice/limiter/options'
import type { Dialect } from '@sluice/limiter/respond'
import type { TimerOptions, Timers } from '@sluice/limiter/time'
import type { ThrottleOptions } from './adaptive-throttle.ts'
import type { BackoffOptions } from './backoff.ts'
import { type FetchCall, newIdempotencyKey, REPEATABLE_METHODS } from './repeatable.ts'
import type { RetryBudgetOptions } from './retry-budget.ts'

export interface RetryOptions extends BackoffOptions {
  /** How often a call is sent at most, from 1 to 100. Default 3. */
  readonly tries?: number
  /** Milliseconds that a call waits at once; where the server asks for more, it fails at once. Default 60,000. */
  readonly maxWaitMs?: number
  /** Calls that wait at once; others fail. Default 1,000. */
  readonly maxWaiting?: number
  /** Statuses after which a call is sent again. Default 408, 429, 500, 502, 503, 504, 529, and refusals with 403. */
  readonly statuses?: readonly number[]
  /** Methods that may be sent again as they are. Default GET, HEAD, OPTIONS, TRACE, PUT, DELETE. */
  readonly methods?: readonly string[]
  /**
   * For servers that know `Idempotency-Key`: calls of other methods get one, of this function or a random one, and are
   * sent again with it. A key that a call has stays, and counts without this option too. Default false.
   */
  readonly idempotencyKeys?: boolean | (() => string)
  /** Retries of all calls to one origin; `false`: as many as there are tries. */
  readonly budget?: RetryBudgetOptions | false
  /** Refuses calls here while their origin refuses more than it accepts; `false`: never. */
  readonly throttle?: ThrottleOptions | false
  /** Calls with the same text are paused together. Default: the origin and the Authorization header. */
  readonly key?: (call: FetchCall) => string
  /** Readers of headers for an API of your own. */
  readonly dialects?: readonly Pick<Dialect, 'read'>[]
  /** Lets the process end while calls wait. Default false. */
  readonly unref?: boolean
  /** Is called with every event: what was retried, given up, refused here, and paused. */
  readonly observe?: Observer
  /** Default: the process's monotonic clock. */
  readonly clock?: Clock
  /** Default: the platform's. */
  readonly timers?: Timers
  /** Gives numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number
}

/** The same with defaults. */
export interface RetrySettings {
  readonly tries: number
  readonly maxWaitMs: number
  readonly maxWaiting: number
  readonly statuses: ReadonlySet<number>
  readonly methods: readonly string[]
  readonly makeKey: (() => string) | undefined
  readonly backoff: BackoffOptions
  readonly budget: RetryBudgetOptions | false
  readonly throttle: ThrottleOptions | false
  readonly key: ((call: FetchCall) => string) | undefined
  readonly dialects: readonly Pick<Dialect, 'read'>[]
  readonly observe: Observer | undefined
  readonly clock: Clock
  readonly timers: TimerOptions
  readonly random: () => number
}

/** Timeouts, refusals, and servers that fail or are overloaded; 529 is Anthropic's overload. */
const STATUSES: readonly number[] = [408, 429, 500, 502, 503, 504, 529]

const DURATION_MS: OptionCheck = /* @__PURE__ */ above0(Number.MAX_SAFE_INTEGER)

export const offCheck: OptionCheck = /* @__PURE__ */ that('false', (value) => value === false)

export const maxWaitCheck: OptionCheck = /* @__PURE__ */ that(
  'milliseconds, 0 or more',
  (value) => typeof value === 'number' && value >= 0,
)

const OPTIONS: OptionCheck = /* @__PURE__ */ objectOf<RetryOptions>({
  tries: /* @__PURE__ */ wholeFrom(1, 100),
  maxWaitMs: maxWaitCheck,
  maxWaiting: /* @__PURE__ */ wholeFrom(0),
  statuses: /* @__PURE__ */ listOf(wholeFrom(300, 599)),
  methods: /* @__PURE__ */ listOf(textCheck),
  idempotencyKeys: /* @__PURE__ */ anyOf(flag, func),
  budget: /* @__PURE__ */ anyOf(
    offCheck,
    objectOf<RetryBudgetOptions>({ share: shareCheck, perMinute: wholeFrom(0), saved: wholeFrom(0) }),
  ),
  throttle: /* @__PURE__ */ anyOf(
    offCheck,
    objectOf<ThrottleOptions>({
      k: that('a number above 1', (value) => typeof value === 'number' && value > 1),
      minimum: wholeFrom(0),
    }),
  ),
  key: func,
  dialects: /* @__PURE__ */ listOf(having('a dialect', 'read')),
  unref: flag,
  observe: func,
  clock: /* @__PURE__ */ having('a clock', 'now'),
  timers: /* @__PURE__ */ having('timers', 'setTimeout', 'clearTimeout'),
  random: func,
  backoff: /* @__PURE__ */ oneOf('full', 'decorrelated'),
  baseMs: DURATION_MS,
  capMs: DURATION_MS,
})

/** @throws ConfigError for options that there are not, or that are wrong */
export function retrySettings(options: RetryOptions): RetrySettings {
  checkOptions(options, OPTIONS)
  const { idempotencyKeys = false, statuses = STATUSES, key, dialects = [], timers, unref = false } = options
  return {
    tries: options.tries ?? 3,
    maxWaitMs: options.maxWaitMs ?? 60_000,
    maxWaiting: options.maxWaiting ?? 1_000,
    statuses: new Set(statuses),
    methods: options.methods?.map((method) => method.toUpperCase()) ?? REPEATABLE_METHODS,
    makeKey: idempotencyKeys === true ? newIdempotencyKey : idempotencyKeys || undefined,
    backoff: options,
    budget: options.budget ?? {},
    throttle: options.throttle ?? {},
    key,
    dialects,
    observe: options.observe,
    clock: options.clock ?? monotonicClock(),
    timers: { unref, ...(timers !== undefined && { timers }) },
    random: options.random ?? Math.random,
  }
}
