import { type Decision, receipt } from './core/decide/decision.ts'
import type { Step } from './core/decide/step.ts'
import { next, settle } from './engine.ts'
import type { Answer, Once, Store } from './stores/store.ts'

/** An estimate that has been charged, and waits to be settled. Once settled, or over, it cannot be settled again. */
export interface Reservation<Async extends boolean = boolean> {
  readonly decision: Decision
  /**
   * Settles at the actual cost, more or less than the estimate. More is charged even into debt, up to twice the
   * capacity in use; less is given back where it still counts. Leases end.
   * @param actual whole, 0 to 2^53−1
   * @returns `false` when there was nothing to settle any more
   */
  commit(actual: number): Answer<Async, boolean>
  /** Gives all of it back. */
  cancel(): Answer<Async, boolean>
}

/** @param ttl microseconds from the decision during which it can be settled; unsettled, the estimate stands. */
export function reservationOf<Async extends boolean>(
  store: Store<Async>,
  decision: Decision,
  ttl: number,
): Reservation<Async> {
  const left = decision[receipt]!
  const once: Once = { id: newId(), until: left.outcome.at + ttl }
  const settleAt = (actual: (step: Step) => number | undefined): Answer<Async, boolean> =>
    left.charged ? settle(store, left, actual, once) : next(store.settle([]), () => false)
  return {
    decision,
    commit: (actual) => settleAt(() => actual),
    cancel: () => settleAt(() => 0),
  }
}

function newId(): string {
  return globalThis.crypto.randomUUID()
}
