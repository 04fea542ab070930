import type { Outcome } from '../core/decide/outcome.ts'
import type { Step } from '../core/decide/step.ts'

export type { Outcome }

/** A later correction of one step's charge. */
export interface Charge {
  readonly step: Step
  /** When the step was charged ({@link Outcome.chargedAt}, else {@link Outcome.at}). */
  readonly at: number
  /** Above 0: charge so much more, even into debt. Below 0: give so much back, where the charge still counts. */
  readonly change: number
  /** The charge was made without the shared store. */
  readonly degraded?: true
}

/**
 * Settles at most once: of several settlements that name one id only the first happens, and none at or after
 * `until`, an instant of the store's clock in microseconds.
 */
export interface Once {
  readonly id: string
  readonly until: number
}

/**
 * Keeps state and runs steps atomically; knows nothing of any algorithm. That is all a store does.
 *
 * A store has one clock, its own: monotonic in process, the server's where it is shared. Steps of one request
 * that name the same state must have been merged (engine.ts does). Failures are thrown (or reject) as StoreError.
 */
export interface Store<Async extends boolean = boolean> {
  /** Whether it answers by promise. */
  readonly async: Async
  /**
   * Charges every step that admits, if the request is admitted, else none. With `peek` it only looks.
   * A refused request changes nothing, but for guards being told.
   */
  decide(steps: readonly Step[], peek: boolean): Answer<Async, Outcome>
  /** Corrects charges, all together; `false` when `once` was spent or is over, and then nothing has changed. */
  settle(charges: readonly Charge[], once?: Once): Answer<Async, boolean>
  /** Forgets one state. */
  reset(step: Pick<Step, 'plan' | 'policy' | 'key'>): Answer<Async, void>
  close(): Answer<Async, void>
  /** Which part of the store answers for a step, where parts can fail by themselves. Absent: it fails as a whole. */
  shardOf?(step: Pick<Step, 'key'>): number
}

/** A store in process answers at once, a shared one by promise. */
export type Answer<Async extends boolean, T> = Async extends true ? Promise<T> : T
