/** The names a policy's `algorithm` may have. Swapping one for another is one word. */
export type AlgorithmName =
  | 'token-bucket'
  | 'gcra'
  | 'leaky-bucket'
  | 'fixed-window'
  | 'sliding-window-log'
  | 'sliding-window-counter'
  | 'concurrency'

/** A window that follows the calendar of a place rather than the epoch. */
export interface CalendarPeriod {
  /** ISO weeks begin on Monday. */
  readonly calendar: 'day' | 'week' | 'month' | 'year'
  /** IANA zone, such as `Europe/Paris`. Default `UTC`: never the machine's own. */
  readonly zone?: string
  /** When in the period the window opens. Default: its first day, at midnight. */
  readonly anchor?: {
    /** Month of the year, 1–12 (`year` only). */
    readonly month?: number
    /** Day of the month 1–31, held to the month's last day where it is shorter; ISO weekday 1–7 for `week`. */
    readonly day?: number
    /** Local time `HH:MM`; a time that a zone skips becomes the first instant after the gap. */
    readonly time?: string
  }
}

/** `limit` units per `period`, by an algorithm. What anyone writes down; a {@link Plan} is made of it once. */
export interface Policy {
  readonly algorithm: AlgorithmName
  /** Units per period; a whole number ≥ 0. 0 refuses everything. */
  readonly limit: number
  /** Milliseconds, text such as `10s`, or a calendar period. For `concurrency`: how long a lease lives unless released. */
  readonly period: number | string | CalendarPeriod
  /** Bucket capacity (buckets only); a whole number ≥ 1, default `limit`. */
  readonly burst?: number
  /** `token-bucket` only: `interval` lets `limit` tokens arrive together each whole period. Default `greedy`. */
  readonly refill?: 'greedy' | 'interval'
  /** `sliding-window-counter` only: how the carried weight is rounded. Default `down`. */
  readonly rounding?: 'down' | 'up'
}
