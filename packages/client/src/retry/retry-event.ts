import type { ThrottledReason } from './throttled.ts'

/**
 * Why a failed call was not sent again: it was sent as often as it may, it may not be sent twice, the server says that
 * it is of no use, the budget of its origin is spent, the origin refuses too much, the wait would be too long, or too
 * many calls wait.
 */
export type GivenUpReason = 'tries' | 'call' | 'server' | 'budget' | ThrottledReason

/** What happens to calls, beside that they are sent and answered. */
export type RetryEvent =
  /** A call failed, with this status or without an answer, and is sent again after so many milliseconds. */
  | {
      readonly type: 'retried'
      readonly origin: string
      readonly tries: number
      readonly waitMs: number
      readonly status?: number
    }
  /** A call failed, and what came of its last try is what the caller gets. */
  | {
      readonly type: 'given-up'
      readonly origin: string
      readonly tries: number
      readonly reason: GivenUpReason
      readonly status?: number
    }
  /** A call was refused here, before it was sent. */
  | { readonly type: 'not-sent'; readonly origin: string; readonly reason: ThrottledReason }
  /** The calls of a key are paused for so many milliseconds. */
  | { readonly type: 'paused'; readonly origin: string; readonly waitMs: number }
