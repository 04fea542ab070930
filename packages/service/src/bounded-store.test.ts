import { MemoryStore } from '@sluice/limiter'
import { planOf } from '@sluice/limiter/algorithms'
import type { Outcome } from '@sluice/limiter/decide'
import { FallbackStore } from '@sluice/limiter/stores/fallback'
import type { Store } from '@sluice/limiter/stores/store'
import { stepFor } from '@sluice/limiter/testing'
import { expect, test } from 'vitest'
import { decideWithin } from './bounded-store.ts'

test('OF-11: a caller who waits for months gets the answer of a store that takes its time', async () => {
  const memory = new MemoryStore()
  const slow = {
    async: true,
    decide: (...asked: Parameters<MemoryStore['decide']>) =>
      new Promise<Outcome>((resolve) => setTimeout(() => resolve(memory.decide(...asked)), 30)),
    settle: async () => true,
    reset: async () => undefined,
    block: async () => undefined,
    close: async () => undefined,
  } as const satisfies Store<true>
  const fallback = new FallbackStore(slow, { deadlineMs: 60_000 })
  const step = stepFor(planOf({ algorithm: 'gcra', limit: 5, period: '1m' }))
  const outcome = await decideWithin({ store: fallback, fallback }, [step], false, 90 * 86_400_000)
  expect([outcome.degraded, outcome.figures[0]!.remaining]).toEqual([undefined, 4])
})
