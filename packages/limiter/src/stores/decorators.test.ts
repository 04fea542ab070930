import { storeSuite } from '@sluice/conformance'
import { describe, it } from 'vitest'
import type { FakeClock } from '../testing.ts'
import { DenyCache } from './deny-cache.ts'
import { FallbackStore } from './fallback.ts'
import { MemoryStore } from './memory.ts'
import { PrefetchStore } from './prefetch.ts'
import type { StateName } from './store.ts'

/** Monotonic milliseconds by the test's clock: they stand still while that one is behind. */
class Monotonic {
  readonly #clock: FakeClock
  #elapsed = 0
  #latest: number | undefined

  constructor(clock: FakeClock) {
    this.#clock = clock
  }

  readonly now = (): number => {
    const now = this.#clock.now()
    this.#latest ??= now
    this.#elapsed += Math.max(0, now - this.#latest)
    this.#latest = Math.max(this.#latest, now)
    return this.#elapsed / 1_000
  }

  /** The clock is about to be set to another time altogether. */
  begin(): void {
    this.#latest = undefined
  }
}

/** Vectors reset what they leave behind, and then begin at another time. */
class DenyCacheOfVectors extends DenyCache {
  readonly #time: Monotonic

  constructor(clock: FakeClock) {
    const time = new Monotonic(clock)
    super(new MemoryStore({ clock }), { now: time.now })
    this.#time = time
  }

  override reset(state: StateName): Promise<void> {
    this.#time.begin()
    return super.reset(state)
  }
}

// A decorator of a store is a store: whoever asks must not notice it.
storeSuite(
  { describe, it },
  'a FallbackStore around another',
  (clock) => new FallbackStore(new MemoryStore({ clock }), { deadlineMs: 60_000 }),
)
storeSuite({ describe, it }, 'a DenyCache around another', (clock) => new DenyCacheOfVectors(clock))
storeSuite(
  { describe, it },
  'a PrefetchStore around another',
  (clock) => new PrefetchStore(new MemoryStore({ clock })),
)
