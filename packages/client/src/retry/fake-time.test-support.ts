import { FakeClock } from '@sluice/limiter/testing'

/** Time that moves when a test says so, from timer to timer. */
export class FakeTime {
  readonly clock: FakeClock = new FakeClock()
  readonly #start = this.clock.now()
  readonly #pending = new Map<number, { readonly at: number; readonly go: () => void }>()
  #last = 0

  readonly timers = {
    setTimeout: (go: () => void, ms: number): number => {
      this.#pending.set(++this.#last, { at: this.clock.now() + ms * 1_000, go })
      return this.#last
    },
    clearTimeout: (timer: number): void => void this.#pending.delete(timer),
  }

  /** Milliseconds since the start. */
  get nowMs(): number {
    return (this.clock.now() - this.#start) / 1_000
  }

  /** How many timers run. */
  get waiting(): number {
    return this.#pending.size
  }

  /** Moves on to an instant, and lets all happen that happens until then. */
  async run(untilMs: number): Promise<void> {
    const until = this.#start + untilMs * 1_000
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      const due = this.#due(until)
      if (due.length === 0) break
      for (const [timer, { go }] of due) {
        if (this.#pending.delete(timer)) go()
      }
    }
    this.clock.set(Math.max(this.clock.now(), until))
  }

  /** The timers that go off next, all at one instant, which then is now. */
  #due(until: number): [number, { readonly at: number; readonly go: () => void }][] {
    let next = Number.POSITIVE_INFINITY
    for (const { at } of this.#pending.values()) next = Math.min(next, at)
    if (next > until) return []
    this.clock.set(Math.max(this.clock.now(), next))
    return [...this.#pending].filter(([, { at }]) => at === next)
  }
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
