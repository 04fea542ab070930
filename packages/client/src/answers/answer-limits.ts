/** One limit that an answer states. */
export interface StatedLimit {
  /** The server's name for it, such as `requests`, `tokens` or a policy; empty where it gives none. */
  readonly name: string
  readonly limit?: number
  /** Units left. */
  readonly remaining?: number
  /** Milliseconds from the answer until the limit is fresh again (windows), or full (buckets). */
  readonly resetMs?: number
  readonly windowMs?: number
}

/** What one answer says about limits. */
export interface AnswerLimits {
  readonly limits: readonly StatedLimit[]
  /** Milliseconds from the answer before which the next call is of no use. */
  readonly retryAfterMs?: number
  /** Whether the answer is a refusal by a limit, whatever its status. */
  readonly refused: boolean
}
