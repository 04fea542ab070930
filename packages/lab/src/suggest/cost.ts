import type { Algorithm } from '@sluice/limiter/algorithms'
import { type KeyArrivals, peaksOf } from './arrivals.ts'
import { mostBeyond } from './busy-seconds.ts'
import { type Choice, type PeriodSearch, planFor } from './frontier.ts'
import { lawKindOf, lawOf } from './laws.ts'
import { type Denied, Trial } from './trial.ts'

const SECOND = 1_000_000

/** What a choice costs, by the log. */
export interface ChoiceCost {
  readonly denied: Denied
  /** The most of all keys that passes in one second of the clock: requests, or what they cost. */
  readonly peakRate: number
  /** The most of one key that passes within any second. */
  readonly worstBurst: number
}

/** Works out what choices cost: what all of them share is done once. */
export class Costs {
  readonly #arrivals: KeyArrivals
  readonly #bursts: Float64Array

  constructor(arrivals: KeyArrivals) {
    this.#arrivals = arrivals
    this.#bursts = peaksOf(arrivals, SECOND)
  }

  /** What passes while nothing is limited. */
  get unlimited(): Pick<ChoiceCost, 'peakRate' | 'worstBurst'> {
    return {
      peakRate: this.#arrivals.seconds[0]?.[1] ?? 0,
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
      const passed: Passed[] = []
      trial.run(key, undefined, (at, allowed, cost) => {
        if (allowed) passed.push({ at, cost })
        else denied.set(Math.floor(at / SECOND), (denied.get(Math.floor(at / SECOND)) ?? 0) + cost)
      })
      worstBurst = Math.max(worstBurst, peakOf(passed))
    }
    return { denied: trial.denied, peakRate: this.#peakRate(denied), worstBurst }
  }

  #peakRate(denied: ReadonlyMap<number, number>): number {
    const { seconds } = this.#arrivals
    let peak = mostBeyond(seconds)
    for (const [second, count] of seconds) {
      if (count <= peak) break
      peak = Math.max(peak, count - (denied.get(second) ?? 0))
    }
    return peak
  }
}

interface Passed {
  readonly at: number
  readonly cost: number
}

function peakOf(passed: readonly Passed[]): number {
  let [first, inSecond, peak] = [0, 0, 0]
  for (const { at, cost } of passed) {
    inSecond += cost
    while (at - passed[first]!.at >= SECOND) inSecond -= passed[first++]!.cost
    peak = Math.max(peak, inSecond)
  }
  return peak
}
