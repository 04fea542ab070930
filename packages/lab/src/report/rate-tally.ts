import type { Rule } from '@sluice/limiter/decide'
import type { QuotaFigures, RateCount } from './traffic-figures.ts'

/** Bins below the limit, each half as high as the next. */
const BINS_BELOW = 6

/** The demand of keys under one quota, held against its limit. */
export class RateTally {
  readonly rule: Rule
  requests = 0
  /** Microseconds. */
  readonly #period: number
  /** Units that one period may have after a pause. */
  readonly #most: number
  readonly #edges: number[]
  readonly #counts: number[]

  constructor(rule: Rule) {
    this.rule = rule
    const { limit, capacity } = rule.plan
    this.#period = periodOf(rule)
    this.#most = Math.max(limit, capacity)
    this.#edges = edgesBelow(this.#most)
    this.#counts = this.#edges.map(() => 0)
  }

  /** The period that an instant lies in. */
  windowOf(at: number): number {
    return Math.floor(at / this.#period)
  }

  /** Counts a key by the units of its busiest period. */
  add(peak: number): void {
    let place = this.#edges.findIndex((edge) => peak <= edge)
    if (place < 0) {
      place = this.#edges.length
      for (let edge = Math.max(1, this.#edges.at(-1)!); edge < peak; ) {
        edge *= 2
        this.#edges.push(edge)
        this.#counts.push(0)
        place = this.#edges.length - 1
      }
    }
    this.#counts[place]!++
  }

  report(): QuotaFigures {
    const quota = quotaFigures(this.rule, this.requests)
    return quota.holds === true ? quota : { ...quota, rates: this.#rates() }
  }

  #rates(): RateCount[] {
    return this.#edges.flatMap((to, i) => {
      const from = i === 0 ? 0 : this.#edges[i - 1]! + 1
      const keys = this.#counts[i]!
      return to === 0 && keys === 0 ? [] : [{ from, to, keys, isOver: from > this.#most }]
    })
  }
}

/** A quota without its demand. */
export function quotaFigures(rule: Rule, requests: number): QuotaFigures {
  const { plan, role } = rule
  const period = plan.source?.period
  return {
    limit: plan.limit,
    capacity: plan.capacity,
    periodMs: periodOf(rule) / 1_000,
    ...(typeof period === 'object' && { calendar: period.calendar }),
    algorithm: plan.algorithm.name,
    role,
    requests,
    ...(plan.algorithm.traits.holds === true && { holds: true }),
  }
}

/** Microseconds. */
function periodOf({ plan }: Rule): number {
  return Math.max(1, plan.period * plan.unit)
}

/** The most, its half, a quarter …, as whole numbers, each once; from the lowest. */
function edgesBelow(most: number): number[] {
  const edges = Array.from({ length: BINS_BELOW + 1 }, (_, i) => Math.floor(most / 2 ** i))
  return [...new Set(edges)].filter((edge) => edge > 0 || most === 0).reverse()
}
