import { setImmediate } from 'node:timers/promises'

/** Milliseconds after which long work lets others have a turn of the event loop. */
const TURN_MS = 5

/** Turns of the event loop that long work takes. */
export class Turns {
  readonly #ms: number
  #began = performance.now()

  /** @param ms after which others have a turn: fewer where nobody waits for the work */
  constructor(ms: number = TURN_MS) {
    this.#ms = ms
  }

  /** Whether this turn has lasted long enough. */
  get over(): boolean {
    return performance.now() - this.#began >= this.#ms
  }

  /** Begins the next one, after others have had theirs. */
  async next(): Promise<void> {
    await setImmediate()
    this.#began = performance.now()
  }

  /** For work in pieces, between two of them: the next turn, once this one is over. */
  readonly pause = (): Promise<void> | undefined => (this.over ? this.next() : undefined)
}
