import { type KeyArrivals, peaksOf } from './arrivals.ts'

/** How much keys ask for in their own busiest window of a length: requests, or what they cost. */
export interface KeyDemand {
  /** Of the window, in seconds. */
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly p99_9: number
  readonly max: number
}

const SECONDS = [1, 60, 3_600]

/** The demand of keys over a second, a minute and an hour. */
export function demandOf(arrivals: KeyArrivals): KeyDemand[] {
  return SECONDS.map((seconds) => {
    const peaks = peaksOf(arrivals, seconds * 1_000_000).sort()
    const at = (share: number): number => peaks[Math.max(0, Math.ceil(share * peaks.length) - 1)] ?? 0
    return { seconds, p50: at(0.5), p99: at(0.99), p99_9: at(0.999), max: peaks.at(-1) ?? 0 }
  })
}
