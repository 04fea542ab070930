import type { StatedFigures } from './figures.ts'

/** What a store answers of the steps of one request, run as one. It is not written to later. */
export interface Outcome {
  readonly allowed: boolean
  /** The store's clock, in microseconds: the instant of the decision, and of its charges unless `chargedAt` is there. */
  readonly at: number
  /** When it was charged, where that was before the decision: its units had been taken ahead. */
  readonly chargedAt?: number
  /**
   * The instant of each step's charge, in microseconds, where one is not `at`: a clock that stepped back was held at the
   * key's last admission, a request that queues is charged at its turn, or several nodes decided, each by its own clock.
   */
  readonly instants?: readonly number[]
  /** One for each step, in order. Only where it is `degraded` some may be unknown. */
  readonly figures: readonly StatedFigures[]
  /** Made without the shared store, by each rule's `onStoreError`. */
  readonly degraded?: true
}

/**
 * When a step was charged, in microseconds: what a correction of the charge must say.
 * @example
 * await store.settle([{ step: steps[0], at: chargedAt(outcome, 0), change: -1 }])
 */
export function chargedAt({ at, chargedAt = at, instants }: Outcome, step: number): number {
  return instants?.[step] ?? chargedAt
}
