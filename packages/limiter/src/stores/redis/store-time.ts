import { type Clock, monotonicClock } from '../../clock.ts'

/**
 * What a client takes for its store's time, in microseconds: its own clock, put right by each answer. No decision
 * rests on it; it only picks the windows of a calendar that are worth sending.
 */
export class StoreTime {
  readonly #own: Clock
  readonly #fixed: Clock | undefined
  #ahead = 0

  /** @param fixed stands in for the store's clock */
  constructor(fixed: Clock | undefined) {
    this.#own = fixed ?? monotonicClock()
    this.#fixed = fixed
  }

  now(): number {
    return this.#own.now() + this.#ahead
  }

  /** The time that the store is to take for its own; usually none. */
  fixed(): number | undefined {
    return this.#fixed?.now()
  }

  /** The store said that it is `at`. */
  told(at: number): void {
    if (this.#fixed === undefined) this.#ahead = at - this.#own.now()
  }
}
