import type { Cells, Plan } from '../../core/decide/algorithm.ts'

/** Where one policy's states are kept. */
export interface Shelf {
  /** Says when a state may be dropped: the most patient blend of the plans that used this shelf. */
  keeps: Plan
  /** The plan asked about last: mostly the next one's too. */
  lastPlan: Plan
  /** The policy's next shelf, for another kind of plan. */
  next: Shelf | undefined
  /** The plans that `keeps` blends. */
  readonly plans: WeakSet<Plan>
  /** The run in which the index last returned points at a state. */
  readonly cells: Cells
  readonly count: number
  /** The largest phase of any key here, in the plan's units: by so much the clocks of two keys may differ. */
  lag: number
  /** Index of the key's state in `cells`; −1 when it has none. `now` is in the plan's units. */
  locate(key: string, now: number): number
  /** The same, making room for a charge, and a state where there was none. */
  place(key: string, now: number): number
  /** Looks at so many states and drops those that mean nothing any more. */
  sweep(states: number, now: number): void
}

/**
 * A store of no more states than this drops none: that would save less than it costs, and a bucket refilled by
 * interval keeps its phase.
 */
export const DROPS_ABOVE = 1_024

/** Buckets that a shelf's keys beyond the cap share. */
export const OVERFLOW = 1024

/** Keys held over all shelves of a store. */
export interface KeyBudget {
  keys: number
  readonly max: number
  /** Charges that went to a bucket shared by keys beyond the cap. */
  shared: number
}

/** Makes a shelf keep its states long enough for `plan` too: the slowest refill, the most in use. */
export function keepFor(shelf: Shelf, plan: Plan): void {
  shelf.lastPlan = plan
  if (shelf.plans.has(plan)) return
  shelf.plans.add(plan)
  if (plan.capacity === 0) return
  const { keeps } = shelf
  shelf.keeps = {
    ...keeps,
    limit: Math.min(keeps.capacity === 0 ? plan.limit : keeps.limit, plan.limit),
    capacity: Math.max(keeps.capacity, plan.capacity),
    ceiling: Math.max(keeps.ceiling, plan.ceiling),
  }
}
