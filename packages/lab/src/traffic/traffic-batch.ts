/** Requests in the order of their times, column by column. */
export interface TrafficBatch<T> {
  readonly length: number
  /** Microseconds since the epoch. */
  readonly at: Float64Array
  /** Microseconds that each took; −1: not known. */
  readonly duration: Float64Array
  /** What was made of each. */
  readonly made: readonly T[]
}
