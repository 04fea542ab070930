import type { Decision } from '../core/decide/decision.ts'
import type { Outcome } from '../core/decide/outcome.ts'
import type { Rule } from '../core/decide/rule.ts'
import type { Charge } from '../core/decide/run.ts'
import type { StateName, Step } from '../core/decide/step.ts'
import { having, type OptionCheck } from '../core/options.ts'
import type { MaybePromise } from '../maybe-promise.ts'

export type { Charge, Outcome, StateName, Step }

/**
 * Settles at most once: of several settlements that name one id only the first happens, and none at or after
 * `until`, an instant of the store's clock in microseconds.
 */
export interface Once {
  readonly id: string
  readonly until: number
}

/**
 * Where state is. A store gets and keeps the states of one request atomically, and leaves what becomes of them to
 * `run`, `correct` and `block` (core/decide/run.ts), or to the same thing written for where the state is.
 *
 * A store has one clock, its own: monotonic in process, the server's where it is shared. Steps of one request
 * that name the same state must have been merged (engine.ts does). Failures are thrown (or reject) as StoreError.
 */
export interface Store<Async extends boolean = boolean> {
  /** Whether it answers by promise. */
  readonly async: Async
  /**
   * Charges every step that admits, if the request is admitted, else none. With `peek` it only looks.
   * A refused request changes nothing, except that blocks count it. The answer is only read: it may be frozen, and the
   * same figures may be given twice.
   */
  decide(steps: readonly Step[], peek: boolean): MaybePromise<Outcome, Async>
  /** Corrects charges, all together; `false` when `once` was spent or is over, and then nothing has changed. */
  settle(charges: readonly Charge[], once?: Once): MaybePromise<boolean, Async>
  /** Forgets what a key has used of a rule, and its block. */
  reset(state: StateName): MaybePromise<void, Async>
  /** Refuses a key for so many microseconds, whatever it has used; 0 ends its block. Only for rules that block. */
  block(state: StateName, ticks: number): MaybePromise<void, Async>
  close(): MaybePromise<void, Async>
  /**
   * What `decide` and `decisionOf` make of one step for each rule, with less work, in a store that answers at once. The
   * rules differ in their states, and are enforced or in shadow mode, one at least enforced. Not for rules that block,
   * delay by `soft` or hold slots. The list is kept, and must not change.
   */
  decisionOf?(rules: readonly Rule[], key: string, cost: number, peek: boolean): Decision
  /** Whether that decision, not by `peek`, would be `allowed`; charges as it does. */
  admits?(rules: readonly Rule[], key: string, cost: number): boolean
  /** Which part of the store answers for a step, where parts can fail by themselves. Absent: it fails as a whole. */
  shardOf?(step: Pick<Step, 'key'>): number
}

/** What a store in options has to have. */
export const storeCheck: OptionCheck = having(
  'a store of this library',
  'decide',
  'settle',
  'reset',
  'block',
  'close',
)
