import type { Figures } from './figures.ts'

/** What a store answers of the steps of one request, run as one. It is not written to later. */
export interface Outcome {
  readonly allowed: boolean
  /** The store's clock, in microseconds: the instant of the decision, and of its charges unless `chargedAt` is there. */
  readonly at: number
  /** When it was charged, where that was before the decision: its units had been taken ahead. */
  readonly chargedAt?: number
  /** One for each step, in order. */
  readonly figures: readonly Figures[]
  /** Made without the shared store, by each rule's `onStoreError`. */
  readonly degraded?: true
}
