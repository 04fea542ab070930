import { expect, it } from 'vitest'
import { LimitExceeded } from './limit-exceeded.ts'
import { createLimiter } from './limiter.ts'
import { MemoryStore } from './stores/memory.ts'
import type { Store } from './stores/store.ts'
import { FakeClock } from './testing.ts'

const policies = { login: { algorithm: 'sliding-window-log', limit: 1, period: '1m' } } as const

it('throws a refusal for whoever prefers to catch it, with the decision in it', () => {
  const limiter = createLimiter({ policies, store: new MemoryStore({ clock: new FakeClock() }) })
  expect(limiter.limitOrThrow('ada').remaining).toBe(0)
  try {
    limiter.limitOrThrow('ada')
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(LimitExceeded)
    expect(error).toMatchObject({
      name: 'LimitExceeded',
      code: 'ERR_SLUICE_LIMIT_EXCEEDED',
      message: 'over the limit "login": retry in 60000 ms',
      decision: { allowed: false, policy: 'login', retryAfterMs: 60_000 },
    })
  }
  expect(() => limiter.limitOrThrow('bob', { cost: 2 })).toThrow('waiting will not help')
})

it('rejects where the store answers by promise', async () => {
  const memory = new MemoryStore({ clock: new FakeClock() })
  const store = {
    async: true as const,
    decide: async (...question) => memory.decide(...question),
    settle: async (...question) => memory.settle(...question),
    reset: async (state) => memory.reset(state),
    block: async (...block) => memory.block(...block),
    close: async () => memory.close(),
  } satisfies Store<true>
  const limiter = createLimiter({ policies, store })
  await limiter.limitOrThrow('ada')
  await expect(limiter.limitOrThrow('ada')).rejects.toBeInstanceOf(LimitExceeded)
})
