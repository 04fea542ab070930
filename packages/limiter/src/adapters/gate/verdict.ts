import type { Header } from '../../core/respond/dialect.ts'
import type { Outcome } from './arrival.ts'
import type { RateLimitInfo } from './info.ts'
import type { Answer } from './reply.ts'

/** What is to be done with one request. */
export interface Verdict {
  /** Sent instead of the application's answer; absent: the request may go on. */
  readonly refusal?: Answer | undefined
  /** To be set on the response, whoever makes it. To be asked for as late as possible: later limiters add to it. */
  headers(): readonly Header[]
  /** To be added to `Access-Control-Expose-Headers`. */
  readonly exposed?: string | undefined
  /** For the application; absent where no quota had a say. */
  readonly info?: RateLimitInfo | undefined
  /** Milliseconds to wait, by `wait`, before anything else. */
  readonly delayMs: number
  /** `false`: the caller left meanwhile, and whatever was charged has been given back. */
  wait(leaving?: AbortSignal): Promise<boolean>
  /** Absent unless something depends on what becomes of the request; then to be told once. Never throws. */
  readonly settle?: ((outcome: Outcome) => Promise<void>) | undefined
}

/** Whole seconds of a refusal's Retry-After, for where there are no headers; absent when no wait helps, or it is a date. */
export function retryAfterOf(verdict: Verdict): number | undefined {
  const seconds = Number(verdict.headers().find(([name]) => name === 'Retry-After')?.[1])
  return Number.isNaN(seconds) ? undefined : seconds
}

/** Nobody's business. */
export const FREE: Verdict = {
  headers: () => [],
  delayMs: 0,
  wait: () => Promise.resolve(true),
}
