/** Buckets for each doubling: a quantile is at most 4.5 % above the true one. */
const PER_OCTAVE = 16
/** From one microsecond to a minute. */
const OCTAVES = 26

/** Milliseconds, of which 50, 95 and 99 % of the answers took no longer. */
export interface LatencyQuantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** How long answers took, in memory that does not grow. */
export class LatencyCounts {
  readonly #buckets = new Uint32Array(PER_OCTAVE * OCTAVES)
  #total = 0

  add(ms: number): void {
    const bucket = Math.ceil(Math.log2(ms * 1_000) * PER_OCTAVE)
    this.#buckets[Math.min(Math.max(bucket, 0), this.#buckets.length - 1)]!++
    this.#total++
  }

  /** Those since it was asked last; null where there were no answers. */
  take(): LatencyQuantiles | null {
    if (this.#total === 0) return null
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => this.#quantile(share)) as [
      number,
      number,
      number,
    ]
    this.#buckets.fill(0)
    this.#total = 0
    return { p50, p95, p99 }
  }

  #quantile(share: number): number {
    let left = Math.ceil(share * this.#total)
    const bucket = this.#buckets.findIndex((count) => {
      left -= count
      return left <= 0
    })
    return Number((2 ** (bucket / PER_OCTAVE) / 1_000).toPrecision(3))
  }
}
