import type { Clock } from './clock.ts'

/** A clock that only moves when it is told to. */
export class FakeClock implements Clock {
  #now: number

  /** @param now microseconds since the epoch; default 2026-01-01T00:00:00Z. */
  constructor(now = 1_767_225_600_000_000) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  /** Sets the time, also backwards. @param now microseconds since the epoch */
  set(now: number): void {
    this.#now = now
  }

  /** Moves the time on, or back. @param ms milliseconds; fractions count to the microsecond */
  advance(ms: number): void {
    this.#now += Math.round(ms * 1_000)
  }
}
