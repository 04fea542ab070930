import type { Cells, StatePlan } from '../../core/decide/algorithm.ts'

/** Where the states of one namespace are kept that have one kind of plan. */
export interface StateTable {
  /** Says when a state may be dropped: the most patient blend of the plans that used this table. */
  keeps: StatePlan
  /** The plan asked about last: mostly the next one's too. */
  lastPlan: StatePlan
  /** The namespace's next table, for another kind of plan. */
  next: StateTable | undefined
  /** The plans that `keeps` blends. */
  readonly plans: WeakSet<StatePlan>
  /** The run in which the index last returned points at a state. */
  readonly cells: Cells
  readonly count: number
  /** Microseconds by which a state may mean something for longer than `keeps` says: a key's phase, a plan of another form. */
  lag: number
  /** Index of the key's state in `cells`; −1 when it has none. `now` is in microseconds. */
  locate(key: string, now: number): number
  /** The same, making room for a charge, and a state where there was none. */
  place(key: string, now: number): number
  /** Looks at so many states and deletes those that have expired. */
  sweep(states: number, now: number): void
}

/** A store of no more states than this deletes none: that would save less than it costs. */
export const DROPS_ABOVE = 1_024

/** Buckets that a table's keys beyond the cap share. */
export const OVERFLOW = 1024

/** Keys held over all tables of a store. */
export interface KeyBudget {
  keys: number
  readonly max: number
  /** Charges that went to a bucket shared by keys beyond the cap. */
  shared: number
}

/**
 * Makes a table keep its states long enough for `plan` too: the slowest refill, the most in use, the coarsest unit. Where
 * plans differ in more than numbers, what one of them says is late by less than a period to another.
 */
export function keepFor(table: StateTable, plan: StatePlan): void {
  table.lastPlan = plan
  if (table.plans.has(plan)) return
  table.plans.add(plan)
  if (plan.capacity === 0) return
  const { keeps } = table
  const { period, unit } = keeps.unit < plan.unit ? plan : keeps
  table.lag = Math.max(table.lag, isSameForm(keeps, plan) ? 0 : period * unit)
  table.keeps = {
    ...keeps,
    period,
    unit,
    limit: Math.min(keeps.capacity === 0 ? plan.limit : keeps.limit, plan.limit),
    capacity: Math.max(keeps.capacity, plan.capacity),
    ceiling: Math.max(keeps.ceiling, plan.ceiling),
  }
}

function isSameForm(a: StatePlan, b: StatePlan): boolean {
  const words = (plan: StatePlan): unknown[] =>
    Object.values(plan).filter((value) => typeof value === 'string')
  return a.algorithm === b.algorithm && a.unit === b.unit && words(a).join() === words(b).join()
}
