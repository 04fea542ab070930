import { storeSuite } from '@sluice/conformance'
import { describe, it } from 'vitest'
import type { FakeClock } from '../testing.ts'
import { DenyCache } from './deny-cache.ts'
import { FallbackStore } from './fallback.ts'
import { MemoryStore } from './memory.ts'
import { PrefetchStore } from './prefetch.ts'

/** Monotonic milliseconds by the test's clock. */
function monotonic(clock: FakeClock): () => number {
  const start = clock.now()
  return () => (clock.now() - start) / 1_000
}

// A decorator of a store is a store: whoever asks must not notice it.
storeSuite(
  { describe, it },
  'a FallbackStore around another',
  (clock) => new FallbackStore(new MemoryStore({ clock }), { deadlineMs: 60_000, now: monotonic(clock) }),
)
storeSuite(
  { describe, it },
  'a DenyCache around another',
  (clock) => new DenyCache(new MemoryStore({ clock }), { now: monotonic(clock) }),
)
storeSuite(
  { describe, it },
  'a PrefetchStore around another',
  (clock) => new PrefetchStore(new MemoryStore({ clock }), { now: monotonic(clock) }),
)
