import type { Algorithm } from '@sluice/limiter/algorithms'
import { type KeyArrivals, peaksOf } from './arrivals.ts'
import { type Choice, type PeriodSearch, planFor } from './frontier.ts'
import { lawKindOf, lawOf } from './laws.ts'
import { type Denied, Trial } from './trial.ts'

const SECOND = 1_000_000
/** Seconds that are kept one by one: the busiest. */
const MOST_SECONDS = 100_000

/** What a choice costs, by the log. */
export interface ChoiceCost {
  readonly denied: Denied
  /** The most requests of all keys that pass in one second of the clock. */
  readonly peakRate: number
  /** The most of one key that pass within any second. */
  readonly worstBurst: number
}

/** Works out what choices cost: what all of them share is done once. */
export class Costs {
  readonly #arrivals: KeyArrivals
  /** Requests in each second that has any; the busiest first. */
  readonly #seconds: readonly (readonly [number, number])[]
  /** No second that is left out has more. */
  readonly #rest: number
  readonly #bursts: Int32Array

  constructor(arrivals: KeyArrivals) {
    this.#arrivals = arrivals
    this.#seconds = busiestSeconds(arrivals.at)
    this.#rest = this.#seconds.length < MOST_SECONDS ? 0 : this.#seconds.at(-1)![1]
    this.#bursts = peaksOf(arrivals, SECOND)
  }

  /** What passes while nothing is limited. */
  get unlimited(): Pick<ChoiceCost, 'peakRate' | 'worstBurst'> {
    return {
      peakRate: this.#seconds[0]?.[1] ?? 0,
      worstBurst: this.#bursts.reduce((a, b) => Math.max(a, b), 0),
    }
  }

  of(search: Pick<PeriodSearch, 'isSafe'>, algorithm: Algorithm, choice: Choice): ChoiceCost {
    const kind = lawKindOf(algorithm, this.#arrivals.duration !== undefined)
    const trial = new Trial(lawOf(kind, planFor(algorithm, choice)), this.#arrivals)
    const denied = new Map<number, number>()
    let worstBurst = 0
    for (let key = 0; key < this.#arrivals.keys; key++) {
      if (search.isSafe(key, algorithm, choice)) {
        worstBurst = Math.max(worstBurst, this.#bursts[key]!)
        continue
      }
      const passed: number[] = []
      trial.run(key, undefined, (at, allowed) => {
        if (allowed) passed.push(at)
        else denied.set(Math.floor(at / SECOND), (denied.get(Math.floor(at / SECOND)) ?? 0) + 1)
      })
      worstBurst = Math.max(worstBurst, peakOf(passed))
    }
    return { denied: trial.denied, peakRate: this.#peakRate(denied), worstBurst }
  }

  #peakRate(denied: ReadonlyMap<number, number>): number {
    let peak = this.#rest
    for (const [second, count] of this.#seconds) {
      if (count <= peak) break
      peak = Math.max(peak, count - (denied.get(second) ?? 0))
    }
    return peak
  }
}

function peakOf(times: readonly number[]): number {
  let [first, peak] = [0, 0]
  for (let i = 0; i < times.length; i++) {
    while (times[i]! - times[first]! >= SECOND) first++
    peak = Math.max(peak, i - first + 1)
  }
  return peak
}

/** The seconds with the most requests, and how many; most first. */
function busiestSeconds(at: Float64Array): (readonly [number, number])[] {
  const seconds = at.map((time) => Math.floor(time / SECOND)).sort()
  let kept: (readonly [number, number])[] = []
  for (let i = 0, end = 0; i < seconds.length; i = end) {
    while (end < seconds.length && seconds[end] === seconds[i]) end++
    kept.push([seconds[i]!, end - i])
    if (kept.length >= 2 * MOST_SECONDS) kept = busiestOf(kept)
  }
  return busiestOf(kept)
}

function busiestOf(seconds: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  return seconds.toSorted(([, a], [, b]) => b - a).slice(0, MOST_SECONDS)
}
