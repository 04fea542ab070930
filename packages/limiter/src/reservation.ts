import type { ActualCost } from './core/decide/charges.ts'
import type { CostByName } from './core/decide/cost.ts'
import { type Decision, receiptOf } from './core/decide/decision.ts'
import type { Engine } from './engine.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Once } from './stores/store.ts'

/** An estimate that has been charged, and waits to be settled. Once settled, or over, it cannot be settled again. */
export interface Reservation<Async extends boolean = boolean, Name extends string = string> {
  readonly decision: Decision<Name>
  /**
   * Settles at the actual cost, more or less than the estimate. More is charged even into debt, up to twice the
   * capacity in use; less is given back where it still counts. Slots that are held are released.
   * @param actual whole, 0 to 2^53−1; by policy, those that are not named stay as they were charged
   * @returns `false` when there was nothing to settle any more
   */
  commit(actual: number | CostByName<Name>): MaybePromise<boolean, Async>
  /** Gives all of it back. */
  cancel(): MaybePromise<boolean, Async>
}

/**
 * @param once names the reservation, and says until when it can be settled
 * @param check looks at the names of an actual cost
 */
export function reservationOf<Async extends boolean>(
  engine: Engine<Async>,
  domain: string,
  decision: Decision,
  once: Once,
  check?: (actual: ActualCost) => void,
): Reservation<Async> {
  // Where nothing was charged, an id that is over already makes the store answer that there is nothing to settle.
  const unique = receiptOf(decision)!.charged ? once : { ...once, until: 0 }
  return {
    decision,
    commit(actual) {
      check?.(actual)
      return engine.settle(domain, decision, actual, unique)
    },
    cancel: () => engine.settle(domain, decision, 0, unique),
  }
}
