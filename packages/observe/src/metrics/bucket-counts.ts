/**
 * Values counted in buckets, each up to and with its bound, as a histogram of Prometheus has them.
 * @example
 * const counts = new BucketCounts([0.1, 1])
 * counts.add(0.5) // counts.counts is [0, 1, 0]
 */
export class BucketCounts {
  /** Of the bounds in order, and last of what is above them all; not summed up. */
  readonly counts: number[]
  sum = 0
  count = 0
  readonly #bounds: readonly number[]

  /** @param bounds ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  add(value: number): void {
    let bucket = 0
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket++
    this.counts[bucket]!++
    this.sum += value
    this.count++
  }
}
