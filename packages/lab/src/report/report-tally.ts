import type { Fate } from '../simulate/decider.ts'
import type { SimulationReport } from '../simulate/report.ts'
import { BinSeries } from './bin-series.ts'
import { Bins } from './bins.ts'
import { LimitRecord } from './limit-record.ts'
import type { LimitFigures, TrafficFigures } from './traffic-figures.ts'

/** Limits that are shown with their keys: those that refuse most. */
const MOST_DETAILED = 8

/**
 * Gathers the figures of a report while traffic is simulated.
 * @example
 * const tally = new ReportTally()
 * const simulation = await simulateTraffic(sources, { rules, domain, onFate: tally.add })
 * writeFileSync('report.html', reportPage(tally.figures(simulation, { traffic: 'access.log', domain: 'shop' })))
 */
export class ReportTally {
  readonly #limits = new Map<string, LimitRecord>()
  readonly #denied = new BinSeries()
  readonly #over = new BinSeries()
  readonly #bins = new Bins((ratio) => {
    this.#denied.widen(ratio)
    this.#over.widen(ratio)
    for (const limit of this.#limits.values()) limit.widen(ratio)
  })
  #first = -1
  #last = -1

  /** @param at microseconds since the epoch, not before those of earlier calls */
  readonly add = (fate: Fate, at: number): void => {
    const bin = this.#bins.binOf(at)
    if (this.#first < 0) this.#first = at
    this.#last = at
    const { allowed, steps, figures } = fate
    let isOver = false
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i]!
      if (!figures[i]!.allowed) isOver = true
      this.#limit(step.rule.name).add(step, figures[i]!, at, bin)
    }
    this.#denied.add(bin, 1, allowed ? 0 : 1, 0)
    this.#over.add(bin, allowed && isOver ? 1 : 0, 0, 0)
  }

  /** @param about what was replayed, and the domain of the rules */
  figures(
    simulation: SimulationReport,
    about: { readonly traffic: string; readonly domain: string },
  ): TrafficFigures {
    const { width } = this.#bins
    const isEmpty = this.#first < 0
    const from = isEmpty ? 0 : Math.floor(this.#first / width)
    const count = isEmpty ? 0 : Math.floor(this.#last / width) - from + 1
    const denied = this.#denied.column(2, from, count)
    const overOnly = this.#over.column(1, from, count)
    return {
      ...about,
      simulation,
      first: isEmpty ? null : this.#first / 1_000,
      last: isEmpty ? null : this.#last / 1_000,
      denied: sumOf(denied),
      overOnly: sumOf(overOnly),
      timeline: {
        start: (from * width) / 1_000,
        width: width / 1_000,
        requests: this.#denied.column(1, from, count),
        denied,
        overOnly,
      },
      limits: this.#reports(simulation, { from, count }),
    }
  }

  #reports({ policies }: SimulationReport, bins: { from: number; count: number }): LimitFigures[] {
    const shown = [...policies].sort((a, b) => b.denied - a.denied || b.matched - a.matched)
    const detailed = new Set(shown.slice(0, MOST_DETAILED).map(({ name }) => name))
    return policies.map(({ name }) => this.#limit(name).report(bins, detailed.has(name)))
  }

  #limit(name: string): LimitRecord {
    let limit = this.#limits.get(name)
    if (limit === undefined) {
      limit = new LimitRecord(name)
      this.#limits.set(name, limit)
    }
    return limit
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
