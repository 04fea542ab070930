import type { Policy } from './policy.ts'

/** The integers of one key. `cells[at]` is always the instant of the key's last admission; all zero: never seen. */
export type Cells = Float64Array

/**
 * A policy turned, once, into validated integers. Instants and durations count in the plan's own `unit`,
 * so that every product an algorithm forms stays below 2^53.
 */
export interface Plan {
  readonly algorithm: Algorithm
  /** What decides whether counters carry over: law and period, not the limit. A changed limit keeps what was used. */
  readonly kind: string
  /** The largest cost that can ever be admitted: the burst, the limit, or the leases. */
  readonly capacity: number
  /** Units per `period`. */
  readonly limit: number
  /** The period in units; for `concurrency` a lease's time to live. */
  readonly period: number
  /** Microseconds in one unit: 1, 1,000 or 1,000,000. */
  readonly unit: number
  /** Integers of state for each key; 0: as many as the key has entries (see {@link Algorithm.room}). */
  readonly size: number
  /** What it was made of, where {@link planOf} made it: whoever keeps this can make the plan again. */
  readonly source?: Policy
  /** Debt may reach this many units in use before a settled cost is cut off; at least `capacity`. */
  readonly ceiling: number
}

/**
 * One law of admission over a short run of integers. Pure: no clock, no randomness, nothing kept.
 *
 * `now` never lies before `cells[at]`: whoever runs the algorithm holds a clock that stepped back at the key's
 * last admission, and writes that instant after a charge. `figures` (figures.ts) makes all five figures of these.
 */
export interface Algorithm<P extends Plan = Plan> {
  readonly name: string
  /** What it charges is given back when the request ends. */
  readonly leases?: true
  /** @throws ConfigError when the policy cannot be kept exactly. */
  plan(policy: Policy): P
  /** The largest whole cost that fits at `now`; below 0 while in debt. */
  remaining(plan: P, cells: Cells, at: number, now: number): number
  /**
   * Units of time from `now` until `cost` (1…capacity) fits, if nothing else arrives; 0 when it fits already. `left`
   * is what `remaining` says.
   */
  wait(plan: P, cells: Cells, at: number, now: number, cost: number, left: number): number
  /** Takes `cost` ≥ 1, whether it fits or not, up to `plan.ceiling` in use. `lease` names what `refund` may give back, `left` is as for `wait`. */
  charge(plan: P, cells: Cells, at: number, now: number, cost: number, lease: number, left: number): void
  /** Gives back up to `cost` of what was charged at `charged` (or under `lease`); nothing where that has aged out. */
  refund(plan: P, cells: Cells, at: number, now: number, cost: number, charged: number, lease: number): void
  /** How long an admitted request waits its turn, before it is charged. Only queues have one. */
  delay?(plan: P, cells: Cells, at: number, now: number): number
  /** Integers needed to charge at `now`; only where `plan.size` is 0. The first call sees an empty run. */
  room?(plan: P, cells: Cells, now: number): number
  /** Notes that a request was refused (guards only; a refusal changes nothing anywhere else). */
  refuse?(plan: P, cells: Cells, at: number, now: number): void
}
