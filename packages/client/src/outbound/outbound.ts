import { type CallFields, checkCall, checkOptions, func } from '@sluice/limiter/options'
import type { FetchFunction } from '../retry/retrying.ts'
import type { DestinationCounts } from './call-counters.ts'
import { FetchedCall, type LimitedInit } from './fetched-call.ts'
import type { CallParts } from './outbound-call.ts'
import { OutboundCalls } from './outbound-calls.ts'
import { CALL_FIELDS, type CallOptions, type OutboundOptions } from './outbound-options.ts'
import { GivenRequest, type HeadersGiven } from './outbound-request.ts'
import { type CallProgress, progressOf } from './progress.ts'
import { RunCall, type RunningCall } from './run-call.ts'

/** A `fetch` that keeps limits. */
export interface LimitedFetch {
  (input: Parameters<FetchFunction>[0], init?: LimitedInit): Promise<Response>
  /** What its calls share: to run others, to see how far they are, to end. */
  readonly outbound: Outbound
}

export interface RunOptions extends CallOptions {
  /** Which destination it goes to. */
  readonly url: string | URL
  /** Default `POST`. */
  readonly method?: string
  /** For functions of the options that ask for them. */
  readonly headers?: HeadersGiven
  readonly body?: unknown
}

/** Limits of calls to others, whatever sends them. */
export interface Outbound {
  /**
   * Runs `job` when its turn has come.
   * @throws Throttled, BudgetExceeded (rejects) where it is not run; the signal's reason when it aborts
   */
  run<T>(job: (call: RunningCall) => T | PromiseLike<T>, options: RunOptions): Promise<T>
  /** How far `total` calls like this one are, from now on. */
  progress(total: number, call: RunOptions): CallProgress
  /** By destination, since the beginning. */
  counts(): Readonly<Record<string, DestinationCounts>>
  /** From now on no new calls are taken. Resolves when those that wait or are under way have ended. */
  drain(): Promise<void>
  /** For transports. */
  readonly calls: OutboundCalls
}

const RUN: CallFields = /* @__PURE__ */ new Map([
  ...CALL_FIELDS,
  ['url', ''],
  ['method', 'string'],
  ['headers', ''],
  ['body', ''],
])

/**
 * Limits of calls to others.
 * @throws ConfigError for options that are wrong
 * @example
 * const limits = createOutbound({ destinations: [{ origin: 'https://api.example.com', limiter }] })
 * const answer = await limits.run(() => client.send(), { url: 'https://api.example.com/v1/mails' })
 */
export function createOutbound(options: OutboundOptions = {}): Outbound {
  const calls = new OutboundCalls(options)
  const partsOf = (given: RunOptions): CallParts => {
    checkCall(given, RUN, [], ['url'])
    const { url, method = 'POST', headers, body, ...own } = given
    if (!(url instanceof URL) && !URL.canParse(String(url)))
      throw new TypeError('url must be an absolute URL')
    return calls.partsOf(new GivenRequest(method, new URL(url), headers, body), own)
  }
  return {
    calls,
    counts: () => calls.counts(),
    drain: () => calls.drain(),
    progress: (total, call) => progressOf(calls, partsOf(call), total),
    run: <T>(job: (call: RunningCall) => T | PromiseLike<T>, given: RunOptions) =>
      new Promise<T>((resolve) => {
        if (typeof job !== 'function') throw new TypeError('job must be a function')
        calls.enter(new RunCall(partsOf(given), job, resolve as (value: unknown) => void))
      }),
  }
}

/** Options as what is made of them, where they are not that already. */
export function outboundOf(options: OutboundOptions | Outbound): Outbound {
  const { calls } = (options ?? {}) as Partial<Outbound>
  return calls instanceof OutboundCalls ? (options as Outbound) : createOutbound(options as OutboundOptions)
}

/**
 * A `fetch` that keeps to the limits of those it calls: ours, and those that answers state. A call over a limit waits
 * for its turn.
 * @param fetch sends the calls, such as the platform's
 * @throws ConfigError for options that are wrong
 * @example
 * const limited = outbound(fetch, { destinations: [{ origin: 'https://api.example.com', limiter }] })
 * const answer = await limited('https://api.example.com/v1/items', { limits: { maxWaitMs: 5_000 } })
 */
export function outbound(fetch: FetchFunction, options: OutboundOptions | Outbound = {}): LimitedFetch {
  checkOptions(fetch, func, 'fetch')
  const shared = outboundOf(options)
  const { calls } = shared
  const limited = (input: Parameters<FetchFunction>[0], init?: LimitedInit): Promise<Response> =>
    new Promise((resolve) => {
      const isRequest = typeof input === 'object' && 'method' in input
      const { method = isRequest ? input.method : 'GET', signal = isRequest ? input.signal : undefined } =
        init ?? {}
      const url = new URL(isRequest ? input.url : input)
      const headers = init?.headers ?? (isRequest ? input.headers : undefined)
      const request = new GivenRequest(method, url, headers, init?.body ?? undefined)
      const parts = calls.partsOf(request, init?.limits, signal ?? undefined)
      calls.enter(new FetchedCall(parts, fetch, input, init, resolve as (value: unknown) => void))
    })
  return Object.assign(limited, { outbound: shared })
}
