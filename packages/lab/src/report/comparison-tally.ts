import type { Rule } from '@sluice/limiter/decide'
import type { BothFates } from '../compare/compare-study.ts'
import type { Comparison } from '../compare/comparison.ts'
import type { Fate } from '../simulate/decider.ts'
import { BinSeries } from './bin-series.ts'
import { Bins } from './bins.ts'
import { ChangedKeys } from './changed-keys.ts'
import type { ComparedLimit, ComparisonFigures } from './comparison-figures.ts'
import { quotaFigures } from './rate-tally.ts'
import type { QuotaFigures } from './traffic-figures.ts'

const MOST_QUOTAS = 8

/**
 * Gathers the figures of a page while two rulebooks are compared.
 * @example
 * const tally = new ComparisonTally()
 * const comparison = await compareRules(sources, { old, new: proposed, onFates: tally.add })
 * const about = { traffic: 'access.log', domain: 'shop', rulebooks: { old: 'rules.yaml', new: 'proposed.yaml' } }
 * writeFileSync('change.html', reportPage(tally.figures(comparison, about)))
 */
export class ComparisonTally {
  readonly #newlyDenied = new ChangedKeys()
  readonly #newlyAdmitted = new ChangedKeys()
  /** Requests, and those that both refuse. */
  readonly #requests = new BinSeries()
  /** Newly refused, and newly admitted. */
  readonly #changes = new BinSeries()
  readonly #quotas = { old: new MetQuotas(), new: new MetQuotas() }
  readonly #bins = new Bins((ratio) => {
    for (const each of [this.#requests, this.#changes, this.#newlyDenied, this.#newlyAdmitted])
      each.widen(ratio)
  })
  #first = -1
  #last = -1

  /** @param at microseconds since the epoch, not before those of earlier calls */
  readonly add = ({ old, new: proposed }: BothFates, at: number): void => {
    const bin = this.#bins.binOf(at)
    if (this.#first < 0) this.#first = at
    this.#last = at
    this.#quotas.old.add(old)
    this.#quotas.new.add(proposed)
    this.#requests.add(bin, 1, old.allowed || proposed.allowed ? 0 : 1, 0)
    if (old.allowed === proposed.allowed) return
    this.#changes.add(bin, old.allowed ? 1 : 0, old.allowed ? 0 : 1, 0)
    const { rule, key } = (old.allowed ? proposed : old).refusedBy!
    const keys = old.allowed ? this.#newlyDenied : this.#newlyAdmitted
    keys.add(rule.name, key, bin)
  }

  /** @param about what was replayed, the domain of the rules, and what the rulebooks are called */
  figures(
    comparison: Comparison,
    about: Pick<ComparisonFigures, 'traffic' | 'domain' | 'rulebooks'>,
  ): ComparisonFigures {
    const { width } = this.#bins
    const isEmpty = this.#first < 0
    const from = isEmpty ? 0 : Math.floor(this.#first / width)
    const count = isEmpty ? 0 : Math.floor(this.#last / width) - from + 1
    return {
      ...about,
      comparison,
      first: isEmpty ? null : this.#first / 1_000,
      last: isEmpty ? null : this.#last / 1_000,
      timeline: {
        start: (from * width) / 1_000,
        width: width / 1_000,
        requests: this.#requests.column(1, from, count),
        newlyDenied: this.#changes.column(1, from, count),
        newlyAdmitted: this.#changes.column(2, from, count),
        deniedByBoth: this.#requests.column(2, from, count),
      },
      newlyDenied: this.#newlyDenied.report(comparison.newlyDenied.topKeys, { from, count }),
      newlyAdmitted: this.#newlyAdmitted.report(comparison.newlyAdmitted.topKeys, { from, count }),
      limits: this.#limits(comparison),
    }
  }

  #limits({ old, new: proposed }: Comparison): ComparedLimit[] {
    const names = new Set([...old.policies, ...proposed.policies].map(({ name }) => name))
    return [...names].map((name) => ({
      name,
      old: this.#quotas.old.of(name),
      new: this.#quotas.new.of(name),
    }))
  }
}

/** Requests of each quota of one rulebook. */
class MetQuotas {
  readonly #requests = new Map<Rule, number>()

  add({ steps }: Fate): void {
    for (const { rule } of steps) this.#requests.set(rule, (this.#requests.get(rule) ?? 0) + 1)
  }

  of(policy: string): QuotaFigures[] {
    return [...this.#requests]
      .filter(([rule]) => rule.name === policy && !rule.missingKey)
      .sort(([, a], [, b]) => b - a)
      .slice(0, MOST_QUOTAS)
      .map(([rule, requests]) => quotaFigures(rule, requests))
  }
}
