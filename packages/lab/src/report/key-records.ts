import { BinSeries } from './bin-series.ts'
import type { RateTally } from './rate-tally.ts'

/** Keys of one policy that are held at once. */
const MOST_KEYS = 200_000
/** Entries of their series that are held at once. */
const MOST_ENTRIES = 500_000

/** What is known of one key. */
export interface KeyRecord {
  requests: number
  denied: number
  /** Units in the period that came last, and the most in any. */
  window: number
  inWindow: number
  peak: number
  quota: RateTally
  readonly series: BinSeries
  isWhole: boolean
}

/** The keys of one policy. Where there are too many, those with the fewest refusals and requests are let go. */
export class KeyRecords {
  readonly #records = new Map<string, KeyRecord>()
  readonly #limits: { readonly keys: number; readonly entries: number }
  #entries = 0
  #gone = 0
  #goneDenied = 0

  constructor(limits: { keys: number; entries: number } = { keys: MOST_KEYS, entries: MOST_ENTRIES }) {
    this.#limits = limits
  }

  get isExact(): boolean {
    return this.#gone === 0
  }

  get keys(): number {
    return this.#gone + this.#records.size
  }

  get keysDenied(): number {
    let count = this.#goneDenied
    for (const { denied } of this.#records.values()) if (denied > 0) count++
    return count
  }

  add(
    key: string,
    quota: RateTally,
    at: number,
    bin: number,
    cost: number,
    denied: number,
    percent: number,
  ): void {
    let record = this.#records.get(key)
    if (record === undefined) {
      if (this.#records.size >= this.#limits.keys) this.#letGo()
      record = newRecord(quota)
      this.#records.set(key, record)
    }
    record.requests++
    record.denied += denied
    record.quota = quota
    const window = quota.windowOf(at)
    record.inWindow = window === record.window ? record.inWindow + cost : cost
    record.window = window
    if (record.inWindow > record.peak) record.peak = record.inWindow
    const before = record.series.length
    record.series.add(bin, 1, denied, percent)
    this.#entries += record.series.length - before
    if (this.#entries > this.#limits.entries) this.#clearSeries()
  }

  widen(ratio: number): void {
    this.#entries = 0
    for (const { series } of this.#records.values()) {
      series.widen(ratio)
      this.#entries += series.length
    }
  }

  /** Counts the rates of all that are left, and returns the keys refused most. */
  end(
    most: number,
    bins: { readonly from: number; readonly count: number },
  ): [string, KeyRecord, number[]][] {
    for (const record of this.#records.values()) countRate(record)
    const top = this.#ordered()
      .slice(-10 * most)
      .reverse()
    const withFullness = top.map(([key, record]): [string, KeyRecord, number[]] => [
      key,
      record,
      record.series.column(3, bins.from, bins.count),
    ])
    const fullest = new Map(withFullness.map(([key, , fullness]) => [key, Math.max(0, ...fullness)]))
    withFullness.sort(
      ([a, one], [b, other]) =>
        other.denied - one.denied ||
        (one.denied > 0 ? 0 : fullest.get(b)! - fullest.get(a)! || other.requests - one.requests) ||
        (a < b ? -1 : 1),
    )
    return withFullness.slice(0, most)
  }

  /** From the one that counts least; of those refused equally often, in the order of a simulation's report. */
  #ordered(): [string, KeyRecord][] {
    return [...this.#records].sort(
      ([a, one], [b, other]) =>
        one.denied - other.denied || (one.denied > 0 ? 0 : one.requests - other.requests) || (a < b ? 1 : -1),
    )
  }

  #letGo(): void {
    for (const [key, record] of this.#ordered().slice(0, Math.ceil(this.#limits.keys / 2))) {
      countRate(record)
      this.#gone++
      if (record.denied > 0) this.#goneDenied++
      this.#entries -= record.series.length
      this.#records.delete(key)
    }
  }

  #clearSeries(): void {
    for (const [, record] of this.#ordered()) {
      if (this.#entries <= this.#limits.entries / 2) return
      this.#entries -= record.series.length
      record.series.clear()
      record.isWhole = false
    }
  }
}

function newRecord(quota: RateTally): KeyRecord {
  return {
    requests: 0,
    denied: 0,
    window: -1,
    inWindow: 0,
    peak: 0,
    quota,
    series: new BinSeries(),
    isWhole: true,
  }
}

function countRate({ quota, peak }: KeyRecord): void {
  quota.add(peak)
}
