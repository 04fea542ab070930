/** What callers used on one day, in UTC. */
export interface UsageDay {
  /** Such as `2026-01-31`; days since the first of a log that has no dates count from `1970-01-01`. */
  readonly day: string
  /** Those that used most first; equal ones in the order of their names. */
  readonly callers: readonly CallerUsage[]
  /** All that came after the hundred-thousandth, together. */
  readonly others: Omit<CallerUsage, 'caller' | 'share'>
}

export interface CallerUsage {
  /** As rules make it a key: secrets are hashes. Empty: the requests that lack it. */
  readonly caller: string
  readonly requests: number
  /** Units of what was admitted. */
  readonly units: number
  /** Requests that were refused. */
  readonly refused: number
  /**
   * Units of what its limit admits in a day, 0–1 and a little more; of the whole limit, where its period is longer.
   * `null` where no limit is known.
   */
  readonly share: number | null
}

/** Callers that are counted one by one. */
const MOST_CALLERS = 100_000
const DAY = 86_400_000_000

/** Counts one day. */
export class UsageTally {
  readonly #callers = new Map<string, Mutable>()
  readonly #others: Mutable = { requests: 0, units: 0, refused: 0, allowance: undefined }
  readonly #most: number

  constructor(most: number = MOST_CALLERS) {
    this.#most = most
  }

  /** @param allowance units that its limit admits in a day */
  add(caller: string, units: number, isRefused: boolean, allowance: number | undefined): void {
    let count = this.#callers.get(caller)
    if (count === undefined) {
      if (this.#callers.size >= this.#most) count = this.#others
      else {
        count = { requests: 0, units: 0, refused: 0, allowance }
        this.#callers.set(caller, count)
      }
    }
    count.requests++
    count.allowance = allowance ?? count.allowance
    if (isRefused) count.refused++
    else count.units += units
  }

  /** @param day counted since 1970-01-01 */
  report(day: number): UsageDay {
    const callers = [...this.#callers].map(
      ([caller, { requests, units, refused, allowance }]): CallerUsage => ({
        caller,
        requests,
        units,
        refused,
        share: allowance === undefined ? null : allowance === 0 ? 0 : units / allowance,
      }),
    )
    callers.sort((a, b) => b.units - a.units || b.requests - a.requests || (a.caller < b.caller ? -1 : 1))
    const { requests, units, refused } = this.#others
    return {
      day: new Date((day * DAY) / 1_000).toISOString().slice(0, 10),
      callers,
      others: { requests, units, refused },
    }
  }
}

interface Mutable {
  requests: number
  units: number
  refused: number
  allowance: number | undefined
}

/** The day of an instant in microseconds since the epoch, counted from 1970-01-01. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY)
}

/** Units that a limit admits in a day, or in its period where that is longer. @param period microseconds */
export function dailyAllowance(limit: number, period: number): number {
  return limit * Math.max(1, DAY / period)
}
