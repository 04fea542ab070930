import type { Clock } from '@sluice/limiter'
import { startPause, type TimerOptions } from '@sluice/limiter/time'
import { spreadWait } from './backoff.ts'
import { Throttled } from './throttled.ts'

/** A key that no call may be sent with. */
interface Paused {
  /** By the clock, in milliseconds. */
  readonly until: number
  /** The whole length, in milliseconds. */
  readonly length: number
}

export interface PassOptions {
  /** Milliseconds that a call may wait. */
  readonly maxWaitMs: number
  readonly signal?: AbortSignal | undefined
}

export interface PausesOptions {
  readonly clock: Clock
  readonly timers: TimerOptions
  /** Gives numbers from 0 to below 1. */
  readonly random: () => number
  /** Calls that wait at once. */
  readonly maxWaiting: number
}

/** Keys that are paused at once; of more, the one that was paused first is forgotten. */
const MAX_KEYS = 10_000
/** A server that asks for more is asked again after this: nothing else would show that it was a mistake. */
const MAX_PAUSE_MS = 600_000

/** What a server asked for, by key: until it is over, no call of that key is sent. */
export class Pauses {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #timers: TimerOptions
  readonly #maxWaiting: number
  readonly #paused = new Map<string, Paused>()
  #waiting = 0

  constructor({ clock, timers, random, maxWaiting }: PausesOptions) {
    this.#clock = clock
    this.#timers = timers
    this.#random = random
    this.#maxWaiting = maxWaiting
  }

  /** Whether some key may be paused. */
  get any(): boolean {
    return this.#paused.size > 0
  }

  /** Whether as many calls wait as may. */
  get full(): boolean {
    return this.#waiting >= this.#maxWaiting
  }

  /** Pauses a key for so many milliseconds, at most ten minutes. A pause that lasts longer stays. */
  pause(key: string, ms: number): void {
    const length = Math.min(ms, MAX_PAUSE_MS)
    const until = this.#now() + length
    const before = this.#paused.get(key)
    if (length <= 0 || (before !== undefined && before.until >= until)) return
    this.#paused.delete(key)
    this.#paused.set(key, { until, length })
    if (this.#paused.size > MAX_KEYS) this.#paused.delete(this.#paused.keys().next().value!)
  }

  /** Milliseconds that a key is paused for; 0 where it is not. */
  leftMs(key: string): number {
    const paused = this.#paused.get(key)
    if (paused === undefined) return 0
    const left = paused.until - this.#now()
    if (left > 0) return left
    this.#paused.delete(key)
    return 0
  }

  /**
   * Resolves once the key is not paused. Those who waited come one after the other, in a tenth of the pause.
   * @throws Throttled where that takes longer than a call may wait, or too many wait; the signal's reason when it aborts
   */
  async pass(key: string, { maxWaitMs, signal }: PassOptions): Promise<void> {
    const from = this.#now()
    for (let left = this.leftMs(key); left > 0; left = this.leftMs(key)) {
      const longest = maxWaitMs - (this.#now() - from)
      if (left > longest) throw new Throttled({ reason: 'wait', retryAfterMs: left })
      if (this.full) throw new Throttled({ reason: 'full', retryAfterMs: left })
      await this.wait(
        Math.min(longest, spreadWait(left, this.#paused.get(key)!.length, this.#random)),
        signal,
      )
    }
  }

  /**
   * Resolves after so many milliseconds by the clock, never before.
   * @throws the signal's reason when it aborts
   */
  async wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const until = this.#now() + ms
    this.#waiting++
    try {
      // Platforms let timers go off up to a millisecond early.
      for (let left = ms; left > 0; left = until - this.#now()) {
        await startPause(left, signal, this.#timers).ended
        signal?.throwIfAborted()
      }
    } finally {
      this.#waiting--
    }
  }

  #now(): number {
    return this.#clock.now() / 1_000
  }
}
