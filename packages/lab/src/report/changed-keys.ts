import { BinSeries } from './bin-series.ts'
import type { ChangedKey } from './comparison-figures.ts'

/** Keys that are held at once, and entries of their series. */
const MOST = { keys: 200_000, entries: 500_000 }

interface KeyTimes {
  requests: number
  isWhole: boolean
  readonly series: BinSeries
}

/** When requests of which keys were decided otherwise. Where there are too many, those with the fewest are let go. */
export class ChangedKeys {
  readonly #most: typeof MOST
  /** Of each policy, by key. */
  readonly #policies = new Map<string, Map<string, KeyTimes>>()
  #keys = 0
  #entries = 0
  #isWhole = true

  constructor(most: typeof MOST = MOST) {
    this.#most = most
  }

  /** @param bin not before that of the last call */
  add(policy: string, key: string, bin: number): void {
    let keys = this.#policies.get(policy)
    if (keys === undefined) {
      keys = new Map()
      this.#policies.set(policy, keys)
    }
    let record = keys.get(key)
    if (record === undefined) {
      if (this.#keys >= this.#most.keys) this.#letGo()
      record = { requests: 0, isWhole: this.#isWhole, series: new BinSeries() }
      keys.set(key, record)
      this.#keys++
    }
    record.requests++
    const before = record.series.length
    record.series.add(bin, 1, 0, 0)
    this.#entries += record.series.length - before
    if (this.#entries > this.#most.entries) this.#clearSeries()
  }

  widen(ratio: number): void {
    this.#entries = 0
    for (const keys of this.#policies.values()) {
      for (const { series } of keys.values()) {
        series.widen(ratio)
        this.#entries += series.length
      }
    }
  }

  /** @param bins those of the timeline */
  report(
    keys: readonly { readonly policy: string; readonly key: string }[],
    bins: { readonly from: number; readonly count: number },
  ): ChangedKey[] {
    return keys.map(({ policy, key }) => {
      const record = this.#policies.get(policy)?.get(key)
      return {
        policy,
        key,
        isWhole: record?.isWhole === true,
        requests: record?.series.column(1, bins.from, bins.count) ?? [],
      }
    })
  }

  /** From the one with the fewest. */
  #ordered(): [Map<string, KeyTimes>, string, KeyTimes][] {
    return [...this.#policies.values()]
      .flatMap((keys) =>
        [...keys].map(([key, record]): [typeof keys, string, KeyTimes] => [keys, key, record]),
      )
      .sort(([, , a], [, , b]) => a.requests - b.requests)
  }

  #letGo(): void {
    this.#isWhole = false
    for (const [keys, key, { series }] of this.#ordered().slice(0, Math.ceil(this.#most.keys / 2))) {
      this.#entries -= series.length
      this.#keys--
      keys.delete(key)
    }
  }

  #clearSeries(): void {
    for (const [, , record] of this.#ordered()) {
      if (this.#entries <= this.#most.entries / 2) return
      this.#entries -= record.series.length
      record.series.clear()
      record.isWhole = false
    }
  }
}
