import type { Header } from '../../../core/respond/dialect.ts'
import type { ResponseOutcome } from '../incoming-request.ts'
import type { RateLimitInfo } from './info.ts'
import type { Refusal } from './refusal.ts'

/** What is to be done with one request. */
export interface Verdict {
  /** Sent instead of the application's answer; absent: the request may go on. */
  readonly refusal?: Refusal | undefined
  /** To be set on the response, also on one that the application makes. Read it as late as possible: later limiters of the request add to it. */
  headers(): readonly Header[]
  /** To be added to `Access-Control-Expose-Headers`. */
  readonly exposed?: string | undefined
  /** For the application, which has been shown it. */
  readonly info: RateLimitInfo
  /** Milliseconds to wait, by `wait`, before anything else. */
  readonly delayMs: number
  /** `false`: the client left meanwhile, and whatever was charged has been given back. */
  wait(leaving?: AbortSignal): Promise<boolean>
  /** Absent unless something depends on what becomes of the request; then to be called once. Never throws. */
  readonly settle?: ((outcome: ResponseOutcome) => Promise<void>) | undefined
}

/** Whole seconds of a refusal's Retry-After, for where there are no headers; absent when no wait helps, or it is a date. */
export function retryAfterOf(verdict: Verdict): number | undefined {
  const seconds = Number(verdict.headers().find(([name]) => name === 'Retry-After')?.[1])
  return Number.isNaN(seconds) ? undefined : seconds
}

/** What needs no limit: the request goes on, or is refused whatever the limits say. */
export function plainVerdict(info: RateLimitInfo, refusal?: Refusal): Verdict {
  return { info, refusal, headers: () => [], delayMs: 0, wait: () => Promise.resolve(true) }
}
