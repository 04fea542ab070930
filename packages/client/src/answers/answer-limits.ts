/** One limit that an answer states. A figure that it does not give is absent. */
export interface StatedLimit {
  /** The server's name for it, such as `requests`, `tokens` or a policy; empty where it gives none. */
  readonly name: string
  /** Whole, ≥ 0, a safe integer; so is `remaining`. */
  readonly limit?: number
  /** Units left. */
  readonly remaining?: number
  /**
   * Milliseconds from the answer until more than `remaining` is available (the drafts that name policies). Where nothing
   * is left, `moreMs ?? resetMs` is what to wait. It may carry a fraction, as the other durations.
   */
  readonly moreMs?: number
  /** Milliseconds from the answer until the limit is fresh again (windows), or full (buckets). */
  readonly resetMs?: number
  readonly windowMs?: number
  /** What is counted: `requests`, `content-bytes`, `concurrent-requests`, or another word of the server's. */
  readonly unit?: string
}

/** What one answer says about limits. */
export interface AnswerLimits {
  /** At most 100. */
  readonly limits: readonly StatedLimit[]
  /**
   * Milliseconds from the answer before which the next call is of no use, 0 to 2^53 − 1: what the server asks for, or
   * after a refusal the time until a limit that is used up has more.
   */
  readonly retryAfterMs?: number
  /** Whether the answer is a refusal by a limit, whatever its status. */
  readonly refused: boolean
}
