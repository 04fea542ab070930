import type { Fate } from './decider.ts'
import type { PolicyReport } from './report.ts'

const TOP = 10
/** Most keys of one policy that are counted one by one; of those that come after, only the sum is kept. */
const MAX_KEYS = 1_000_000

/** What was counted, by policy. */
export type PolicyCounts = ReadonlyMap<string, CountOfPolicy>

/** Counts decisions, policy by policy. */
export class SimulationTally {
  readonly #policies = new Map<string, CountOfPolicy>()

  /** @param names policies to be reported even if no request meets them, in the order of the report */
  constructor(names: readonly string[]) {
    for (const name of names) this.#count(name)
  }

  add({ steps, figures }: Fate, missing: readonly string[]): void {
    for (const name of missing) this.#count(name).missingKey++
    for (let i = 0; i < steps.length; i++) {
      const { rule, key } = steps[i]!
      const count = this.#count(rule.name)
      count.matched++
      if (figures[i]!.allowed) continue
      count.denied++
      const before = count.keys.get(key)
      if (before !== undefined || count.keys.size < MAX_KEYS) count.keys.set(key, (before ?? 0) + 1)
    }
  }

  get counts(): PolicyCounts {
    return this.#policies
  }

  #count(name: string): CountOfPolicy {
    let count = this.#policies.get(name)
    if (count === undefined) {
      count = { matched: 0, denied: 0, missingKey: 0, keys: new Map() }
      this.#policies.set(name, count)
    }
    return count
  }
}

interface CountOfPolicy {
  matched: number
  denied: number
  missingKey: number
  /** How often each was denied. */
  readonly keys: Map<string, number>
}

/** What several have counted, together. */
export function policyReports(all: readonly PolicyCounts[]): PolicyReport[] {
  const names = new Set(all.flatMap((counts) => [...counts.keys()]))
  return [...names].map((name) => {
    const counts = all.flatMap((each) => each.get(name) ?? [])
    const matched = sumOf(counts, 'matched')
    const denied = sumOf(counts, 'denied')
    const keys = summed(counts.map((count) => count.keys))
    return {
      name,
      matched,
      admitted: matched - denied,
      denied,
      deniedShare: matched === 0 ? 0 : denied / matched,
      missingKey: sumOf(counts, 'missingKey'),
      top: topOf(keys, TOP).map(([key, times]) => ({ key, denied: times })),
    }
  })
}

function sumOf<Field extends string>(counts: readonly Record<Field, number>[], field: Field): number {
  return counts.reduce((sum, count) => sum + count[field], 0)
}

/** The sums of counts, by name. */
export function summed<Name>(all: readonly ReadonlyMap<Name, number>[]): ReadonlyMap<Name, number> {
  if (all.length === 1) return all[0]!
  const sums = new Map<Name, number>()
  for (const counts of all) for (const [name, times] of counts) sums.set(name, (sums.get(name) ?? 0) + times)
  return sums
}

/** The most frequent, most frequent first; those that are equal in the order of their names. */
export function topOf(counts: ReadonlyMap<string, number>, most: number): [string, number][] {
  return [...counts].sort(([a, timesA], [b, timesB]) => timesB - timesA || (a < b ? -1 : 1)).slice(0, most)
}
