import { createHistogram } from 'node:perf_hooks'

/** Milliseconds, with three digits; counted from the instant at which a request should have been sent. */
export interface Latency {
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** Node's own HDR histogram, in microseconds, up to an hour. */
export class LatencyRecorder {
  readonly #histogram = createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 3 })

  record(ms: number): void {
    this.#histogram.record(Math.max(1, Math.round(ms * 1_000)))
  }

  /** `undefined` where nothing was recorded. */
  summary(): Latency | undefined {
    const histogram = this.#histogram
    if (histogram.count === 0) return undefined
    const at = (percentile: number): number => histogram.percentile(percentile) / 1_000
    const mean = Math.round(histogram.mean) / 1_000
    return { mean, p50: at(50), p90: at(90), p99: at(99), p999: at(99.9), max: histogram.max / 1_000 }
  }
}
