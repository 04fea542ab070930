import type { StatedFigures } from '@sluice/limiter/algorithms'
import type { Step } from '@sluice/limiter/decide'
import { KeyRecords } from './key-records.ts'
import { RateTally } from './rate-tally.ts'
import type { KeyTraffic, LimitFigures, WaitCount } from './traffic-figures.ts'

const MOST_QUOTAS = 8
const MOST_TOP = 16
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Milliseconds up to which waits are counted together. */
const WAITS = [SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 24 * HOUR, Number.POSITIVE_INFINITY]

/** Counts what one policy did. */
export class LimitRecord {
  readonly #name: string
  readonly #quotas = new Map<Step['rule'], RateTally>()
  readonly #keys = new KeyRecords()
  readonly #waits = WAITS.map(() => 0)
  #never = 0

  constructor(name: string) {
    this.#name = name
  }

  add({ rule, key, cost }: Step, figures: StatedFigures, at: number, bin: number): void {
    let quota = this.#quotas.get(rule)
    if (quota === undefined) {
      quota = new RateTally(rule)
      this.#quotas.set(rule, quota)
    }
    quota.requests++
    const { allowed, limit, remaining, retryAfterMs } = figures
    this.#keys.add(key, quota, at, bin, cost, allowed ? 0 : 1, percentInUse(limit, remaining ?? limit))
    if (allowed) return
    if (retryAfterMs === null) this.#never++
    else this.#waits[WAITS.findIndex((most) => retryAfterMs <= most)]!++
  }

  widen(ratio: number): void {
    this.#keys.widen(ratio)
  }

  /** @param bins those of the timeline */
  report(bins: { readonly from: number; readonly count: number }, isDetailed: boolean): LimitFigures {
    const top = this.#keys.end(isDetailed ? MOST_TOP : 0, bins)
    // What refuses requests without a key has no quota to show.
    const quotas = [...this.#quotas.values()].filter(({ rule }) => !rule.missingKey)
    quotas.sort((a, b) => b.requests - a.requests)
    return {
      name: this.#name,
      quotas: quotas.slice(0, MOST_QUOTAS).map((quota) => quota.report()),
      keys: this.#keys.keys,
      keysDenied: this.#keys.keysDenied,
      isExact: this.#keys.isExact,
      waits: this.#waitCounts(),
      top: top.map(
        ([key, { requests, denied, isWhole, series }, fullness]): KeyTraffic => ({
          key,
          requests,
          denied,
          isWhole,
          series: {
            requests: series.column(1, bins.from, bins.count),
            denied: series.column(2, bins.from, bins.count),
          },
          fullness,
        }),
      ),
    }
  }

  #waitCounts(): WaitCount[] {
    const counts = WAITS.slice(0, -1).map((toMs, i) => ({ toMs, denied: this.#waits[i]! }))
    // A longer wait than a day is shown with those that never end: nobody waits for it.
    return [...counts, { toMs: null, denied: this.#never + this.#waits.at(-1)! }]
  }
}

function percentInUse(limit: number, remaining: number): number {
  if (limit === 0) return 100
  return Math.min(100, Math.max(0, Math.round((1 - remaining / limit) * 100)))
}
