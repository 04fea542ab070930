import type { Options, OptionValues } from './option.ts'
import type { BasePolicy } from './policy.ts'

/**
 * The integers of one key; all zero: never seen. `cells[offset]` is always the instant of the key's last admission, in
 * microseconds. None of them depends on the limit or on the unit of the plan that wrote it, so a changed rule keeps
 * what was used.
 */
export type Cells = Float64Array

/** One key's state as a request found it. */
export interface Reading {
  cells: Cells
  /** Where in `cells` its integers begin. */
  offset: number
  /** The last admission, in units. */
  last: number
  /** The instant that counts (`instantOf` of figures.ts), in units; in microseconds it is `ticks`. */
  now: number
  ticks: number
  /** What `remaining` says; a charge that fitted has taken exactly its cost from it. */
  left: number
  allowed: boolean
  /** In units. */
  delay: number
}

/** The waits that the figures state, in units; infinity where no wait helps. */
export interface Waits {
  retry: number
  more: number
  reset: number
}

/**
 * What a store needs to know of a state to keep it, and to delete it in time. An algorithm counts instants and durations
 * in the plan's own `unit`, so that every product it forms stays below 2^53.
 */
export interface StatePlan {
  readonly algorithm: Recovery
  /** What decides whether counters carry over: algorithm and period, not the limit nor another option. */
  readonly kind: string
  /** The largest cost that can ever be admitted: the burst, the limit, or the slots. */
  readonly capacity: number
  /** Units per `period`. */
  readonly limit: number
  /** The period in units of time; for `concurrency` how long a slot is held unless it is released. */
  readonly period: number
  /** Microseconds in one unit: 1, 1,000 or 1,000,000. */
  readonly unit: number
  /** Integers of state for each key; 0: as many as the key has entries (see {@link Recovery.room}). */
  readonly size: number
  /** Debt may reach this many units in use before a settled cost is cut off; at least `capacity`. */
  readonly ceiling: number
}

/** A policy turned, once, into validated integers. */
export interface Plan extends StatePlan {
  readonly algorithm: Algorithm
  /** The policy that it was made of, where {@link planOf} made it: from this the plan can be made again. */
  readonly source?: BasePolicy
}

/**
 * How a state recovers while time passes. Pure: time is an argument, in the plan's units. `last` is the last admission,
 * and `now` never lies before it.
 */
export interface Recovery<P extends StatePlan = StatePlan> {
  readonly name: string
  /** The largest whole cost that fits at `now`; below 0 while in debt. */
  remaining(plan: P, cells: Cells, offset: number, last: number, now: number): number
  /**
   * Units of time from `now` until `cost` (1…capacity) fits, if nothing else arrives; 0 when it fits already, infinity
   * when no wait helps. `left` is what `remaining` says.
   */
  wait(plan: P, cells: Cells, offset: number, last: number, now: number, cost: number, left: number): number
  /** Units of time from `now` until the state means the same as none; absent where that is when all of the quota is there. */
  idle?(plan: P, cells: Cells, offset: number, last: number, now: number): number
  /**
   * Integers needed to charge at `now`, which may be fewer than there are; only where `plan.size` is 0. The first call
   * sees an empty run. A store at its cap may leave the run as it is: then what is charged counts as long as it should,
   * or longer.
   */
  room?(plan: P, cells: Cells, now: number): number
  /**
   * The state is a level (level.ts) and nothing else, and the whole quota is there when it has drained. A store may keep
   * its second and third integer as one.
   */
  readonly isLevel?: true
}

/** What the rest of the house must know of an algorithm. It asks for these, and never for an algorithm by name. */
export interface Traits {
  /** Windows begin at the same instant for every key, so that a phase can spread them. */
  readonly aligned?: true
  /** Admitted requests wait for their turn: decisions have a delay. */
  readonly queues?: true
  /** What was charged flows back continuously, at limit/period. */
  readonly flows?: true
  /** A charge is held until its request ends, and is given back then. */
  readonly holds?: true
  /** All that was charged in a window ends with it, at `resetAfter`. */
  readonly ends?: true
}

/**
 * One formula of admission over a short run of integers. Pure: no clock, no randomness, nothing remembered but what
 * can be computed again.
 *
 * Whoever runs an algorithm holds a clock that stepped back at the key's last admission, and writes that instant after
 * a charge. All five figures follow from `remaining` and `wait` (figures.ts).
 */
export interface Algorithm<P extends Plan = Plan, O extends Options = Options> extends Recovery<P> {
  readonly traits: Traits
  /** What a policy may say beside its limit and period. Declared here and nowhere else. */
  readonly options: O
  /** @throws ConfigError when the policy cannot be kept exactly. Options were checked before. */
  plan(policy: BasePolicy & OptionValues<O>): P
  /**
   * Takes `cost` ≥ 1, whether it fits or not, up to `plan.ceiling` in use. `chargeId` names what `refund` may give
   * back, `left` is as for `wait`; `raises` where the id has been charged before.
   */
  charge(
    plan: P,
    cells: Cells,
    offset: number,
    last: number,
    now: number,
    cost: number,
    chargeId: number,
    left: number,
    raises?: boolean,
  ): void
  /**
   * Gives back up to `cost` of what was charged at `charged` (or under `chargeId`); nothing where that has expired. Of a
   * charge that queued, `charged` is its turn: when it was charged, and its delay.
   */
  refund(
    plan: P,
    cells: Cells,
    offset: number,
    last: number,
    now: number,
    cost: number,
    charged: number,
    chargeId: number,
  ): void
  /** How long an admitted request waits for its turn, before it is charged. Only where the algorithm queues. */
  delay?(plan: P, cells: Cells, offset: number, last: number, now: number): number
  /**
   * `remaining` and `delay` in one call, which writes `left`, `allowed` and `delay`. With `answer` it stands beside the
   * functions above, for speed: where a process uses several algorithms, each call of one costs more than what it
   * computes. An algorithm has both or neither; without, decisions call the functions (one-call.ts).
   */
  read?(plan: P, reading: Reading, cost: number): void
  /** After `read`: takes `cost` where it `charges`, also from `left`, and writes the waits. */
  answer?(plan: P, reading: Reading & Waits, cost: number, charges: boolean): void
  /**
   * Both in one call, and the instants with them, for one limit in a plan whose unit is 1: takes `cost` where it fits,
   * unless it is a `peek`, and writes what a decision states only where that `isStated`. For algorithms that do not queue.
   * @param at the clock's reading, in microseconds
   * @returns whether the cost fits
   */
  decide?(
    plan: P,
    reading: Reading & Waits,
    at: number,
    cost: number,
    peek: boolean,
    isStated: boolean,
  ): boolean
}
