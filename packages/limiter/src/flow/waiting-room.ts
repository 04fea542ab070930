import { startPause } from './pause.ts'
import type { Timers } from './timers.ts'

/**
 * Holds requests back, so many at once.
 * @example
 * const room = new WaitingRoom(1_000, globalThis)
 * if (room.enter()) await room.wait(500, undefined)
 */
export class WaitingRoom {
  readonly #seats: number
  readonly #timers: Timers
  #taken = 0

  constructor(seats: number, timers: Timers) {
    this.#seats = seats
    this.#timers = timers
  }

  /** A seat, which `wait` gives back; `false` when all are taken. */
  enter(): boolean {
    if (this.#taken >= this.#seats) return false
    this.#taken++
    return true
  }

  /** Waits in a seat that `enter` gave. `false`: the caller left before the time was over. */
  async wait(ms: number, leaving: AbortSignal | undefined): Promise<boolean> {
    const end = await startPause(ms, leaving, { timers: this.#timers }).ended
    this.#taken--
    return end !== 'left'
  }
}
