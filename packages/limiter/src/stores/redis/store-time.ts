import { type Clock, monotonicClock } from '../../clock.ts'

/**
 * What a client takes for its store's time, in microseconds: its own clock, put right by each answer. No decision
 * rests on it; it only picks the windows of a calendar that are worth sending.
 */
export class StoreTime {
  readonly #own: Clock
  readonly #replaced: boolean
  #ahead = 0

  /** @param clock replaces the store's own */
  constructor(clock: Clock | undefined) {
    this.#own = clock ?? monotonicClock()
    this.#replaced = clock !== undefined
  }

  now(): number {
    return this.#own.now() + this.#ahead
  }

  /** What scripts get: nothing, or the time that they are to take for the server's. */
  word(): string {
    return this.#replaced ? String(this.#own.now()) : ''
  }

  /** The store answered that it is `at`. */
  sync(at: number): void {
    if (!this.#replaced) this.#ahead = at - this.#own.now()
  }
}
