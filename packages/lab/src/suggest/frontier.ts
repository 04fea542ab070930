import { type Algorithm, type Plan, type Policy, planOf } from '@sluice/limiter/algorithms'
import { type KeyArrivals, leastCost, peaksOf, totalCost } from './arrivals.ts'
import { type LawKind, lawKindOf, lawOf } from './laws.ts'
import { type Denied, type ShareOf, Trial } from './trial.ts'

/** One choice: a policy's figures, without its algorithm. */
export interface Choice {
  readonly limit: number
  /** Capacity of a bucket; only of algorithms that have one. */
  readonly burst?: number
  /** Microseconds. */
  readonly period: number
}

/** What may be refused. */
export interface DenialBound {
  readonly of: ShareOf
  /** At most so many of them. */
  readonly most: number
}

/** A choice on the frontier: it keeps the allowance, and the next smaller ones do not. */
export interface FrontierPoint {
  readonly choice: Choice
  readonly denied: Denied
  /** The least that is refused, of what the allowance counts, with a limit or a burst that is one less. */
  readonly oneLower: number
}

/** Parts of the smallest limit whose burst is its own size: with less rate more burst is needed, with more less. */
const RATES = [1 / 8, 1 / 4, 1 / 2, 1, 2]

/** Searches the choices of one period. */
export class PeriodSearch {
  readonly #arrivals: KeyArrivals
  readonly #allowance: DenialBound
  readonly period: number
  readonly #peaks: Float64Array
  /** Keys by their peak, most first: those that come after the first that cannot be refused cannot be either. */
  readonly #order: Int32Array
  readonly #most: number
  /** A capacity that is smaller would refuse all. */
  readonly #least: number
  /** Algorithms of one kind have one frontier. */
  readonly #found = new Map<LawKind, readonly FrontierPoint[]>()

  /** @param mostCapacity no choice lets more pass at once */
  constructor(arrivals: KeyArrivals, allowance: DenialBound, period: number, mostCapacity: number) {
    this.#arrivals = arrivals
    this.#allowance = allowance
    this.period = period
    this.#peaks = peaksOf(arrivals, period)
    const peaks = this.#peaks
    this.#order = Int32Array.from({ length: arrivals.keys }, (_, key) => key).sort(
      (a, b) => peaks[b]! - peaks[a]!,
    )
    this.#most = mostCapacity
    this.#least = leastCost(arrivals)
  }

  /** The frontier of an algorithm; empty where no choice keeps the allowance. */
  pointsOf(algorithm: Algorithm): readonly FrontierPoint[] {
    const kind = lawKindOf(algorithm, this.#arrivals.duration !== undefined)
    const points = this.#found.get(kind) ?? this.#search(algorithm)
    this.#found.set(kind, points)
    return points
  }

  /** Whether a choice refuses a key nothing, as far as its peak tells. */
  isSafe(key: number, algorithm: Algorithm, { limit, burst = limit }: Choice): boolean {
    return this.#peaks[key]! <= Math.min(limit, burst) / weightOf(algorithm)
  }

  #search(algorithm: Algorithm): readonly FrontierPoint[] {
    const { period } = this
    const top = this.#ceiling(algorithm)
    const limit = this.#smallest(this.#least, top, (value) =>
      this.#keeps(algorithm, { limit: value, period }),
    )
    if (!('burst' in algorithm.options))
      return limit === undefined ? [] : [this.#pointAt(algorithm, { limit, period })]
    const base = limit ?? this.#most
    const points = RATES.flatMap(
      (rate) => this.#pointNear(algorithm, Math.max(1, Math.round(base * rate))) ?? [],
    )
    return distinct(points)
  }

  /** The smallest burst for a limit, and then the smallest limit for that burst. */
  #pointNear(algorithm: Algorithm, start: number): FrontierPoint | undefined {
    const { period } = this
    const longest = Math.min(this.#most, totalCost(this.#arrivals))
    let burst = this.#smallest(this.#least, longest, (value) =>
      this.#keeps(algorithm, { limit: start, burst: value, period }),
    )
    if (burst === undefined) return undefined
    // Where costs differ, less of the limit may let more requests pass, and the burst is no longer the smallest.
    for (let limit = start; ; ) {
      const capacity: number = burst
      const keeps = (value: number): boolean =>
        this.#keeps(algorithm, { limit: value, burst: capacity, period })
      if (limit > 1 && keeps(limit - 1)) limit = this.#smallest(1, limit - 1, keeps)!
      const at = limit
      const fits = (value: number): boolean => this.#keeps(algorithm, { limit: at, burst: value, period })
      if (capacity === this.#least || !fits(capacity - 1))
        return this.#pointAt(algorithm, { limit, burst, period })
      burst = this.#smallest(this.#least, capacity - 1, fits)!
    }
  }

  #pointAt(algorithm: Algorithm, choice: Choice): FrontierPoint {
    const { of } = this.#allowance
    return {
      choice,
      denied: this.#denied(algorithm, choice, false),
      oneLower: Math.min(...lowerThan(choice).map((each) => this.#denied(algorithm, each, false)[of])),
    }
  }

  /** A limit by which nothing is refused. */
  #ceiling(algorithm: Algorithm): number {
    const peak = this.#order.length === 0 ? 1 : this.#peaks[this.#order[0]!]!
    return Math.min(this.#most, Math.max(1, peak * weightOf(algorithm)))
  }

  #smallest(least: number, top: number, keeps: (value: number) => boolean): number | undefined {
    if (top < least || !keeps(top)) return undefined
    let [over, within] = [least - 1, top]
    while (within - over > 1) {
      const middle = Math.floor((over + within) / 2)
      if (keeps(middle)) within = middle
      else over = middle
    }
    return within
  }

  #keeps(algorithm: Algorithm, choice: Choice): boolean {
    return this.#denied(algorithm, choice, true)[this.#allowance.of] <= this.#allowance.most
  }

  /** @param stops once the allowance is spent */
  #denied(algorithm: Algorithm, choice: Choice, stops: boolean): Denied {
    const { of, most } = this.#allowance
    const kind = lawKindOf(algorithm, this.#arrivals.duration !== undefined)
    const trial = new Trial(lawOf(kind, planFor(algorithm, choice)), this.#arrivals)
    const stopAbove = stops && of === 'requests' ? most : Number.POSITIVE_INFINITY
    for (const key of this.#order) {
      if (this.isSafe(key, algorithm, choice) || (stops && trial.denied[of] > most)) break
      trial.run(key, stopAbove)
    }
    return trial.denied
  }
}

/** One less of the limit or of the burst; a bucket that nothing refills is no choice. */
function lowerThan(choice: Choice): Choice[] {
  const { limit, burst } = choice
  if (burst === undefined) return [{ ...choice, limit: limit - 1 }]
  const limits = limit > 1 ? [{ ...choice, limit: limit - 1 }] : []
  const bursts = burst > 1 ? [{ ...choice, burst: burst - 1 }] : []
  return limits.length + bursts.length > 0 ? [...limits, ...bursts] : [{ ...choice, limit: 0 }]
}

/**
 * A key that asks for no more than `limit / weight` in any period is never refused: two windows that are aligned may both
 * count what came in one period that lies across their edge.
 */
function weightOf({ traits }: Algorithm): number {
  return traits.aligned === true ? 2 : 1
}

/** The plan of a choice. */
export function planFor({ name }: Algorithm, { limit, burst, period }: Choice): Plan {
  return planOf({
    algorithm: name,
    limit,
    period: period / 1_000,
    ...(burst !== undefined && { burst }),
  } as Policy)
}

/** Each once, and none that another one undercuts in both limit and burst. */
function distinct(points: readonly FrontierPoint[]): FrontierPoint[] {
  const kept: FrontierPoint[] = []
  for (const point of points.toSorted((a, b) => a.choice.limit - b.choice.limit)) {
    const { limit, burst = 0 } = point.choice
    const undercut = kept.some(({ choice }) => choice.limit <= limit && (choice.burst ?? 0) <= burst)
    if (!undercut) kept.push(point)
  }
  return kept
}
