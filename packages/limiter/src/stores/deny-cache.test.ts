import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AlgorithmName, planOf } from '../core/decide/algorithms.ts'
import type { Observer } from '../observe/events.ts'
import { FakeClock, stepFor } from '../testing.ts'
import { DenyCache, type DenyCacheOptions } from './deny-cache.ts'
import { MemoryStore } from './memory.ts'
import type { Step, Store } from './store.ts'

const algorithms: AlgorithmName[] = [
  'token-bucket',
  'gcra',
  'leaky-bucket',
  'fixed-window',
  'sliding-window-log',
  'sliding-window-counter',
  'concurrency',
]

/** Counts the refusals that are repeated. */
function counter(): { repeated: number; readonly observe: Observer } {
  const counts = {
    repeated: 0,
    observe: (({ type }) => {
      if (type === 'repeated') counts.repeated++
    }) satisfies Observer,
  }
  return counts
}

describe('deny cache', () => {
  it('does not change one figure of one decision', async () => {
    const operation = fc.record({
      verb: fc.constantFrom(
        'decide',
        'decide',
        'decide',
        'decide',
        'decide',
        'decide',
        'peek',
        'refund',
        'reset',
      ),
      key: fc.constantFrom('a', 'b'),
      cost: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 0, max: 4 })),
      forward: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 900_000 })),
      policies: fc.constantFrom(1, 1, 1, 2),
    })
    let repeated = 0
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...algorithms),
        fc.array(operation, { minLength: 20, maxLength: 80 }),
        async (algorithm, operations) => {
          const clock = new FakeClock()
          const start = clock.now()
          const plans = [
            planOf({ algorithm, limit: 3, period: '1s' }),
            planOf({ algorithm: 'fixed-window', limit: 5, period: '2s' }),
          ]
          const bare = new MemoryStore({ clock })
          const counts = counter()
          const cached = new DenyCache(new MemoryStore({ clock }), {
            now: () => (clock.now() - start) / 1_000,
            observe: counts.observe,
          })
          let chargeId = 0
          for (const { verb, key, cost, forward, policies } of operations) {
            clock.advance(forward / 1_000)
            chargeId++
            const steps = plans
              .slice(0, policies)
              .map((plan, i) => stepFor(plan, { name: `p${i}`, key, cost, chargeId }))
            if (verb === 'reset') {
              bare.reset(steps[0]!)
              await cached.reset(steps[0]!)
            } else if (verb === 'refund') {
              const charge = { step: steps[0]!, at: clock.now(), change: -cost }
              expect(await cached.settle([charge])).toBe(bare.settle([charge]))
            } else {
              expect(await cached.decide(steps, verb === 'peek')).toEqual(bare.decide(steps, verb === 'peek'))
            }
          }
          repeated += counts.repeated
        },
      ),
      { numRuns: 600 },
    )
    expect(repeated).toBeGreaterThan(500)
  })

  function setUp(options: DenyCacheOptions = {}) {
    const clock = new FakeClock()
    const start = clock.now()
    const memory = new MemoryStore({ clock })
    let questions = 0
    const counting: Store<false> = {
      async: false,
      decide: (steps: readonly Step[], peek: boolean) => {
        questions++
        return memory.decide(steps, peek)
      },
      settle: memory.settle.bind(memory),
      reset: memory.reset.bind(memory),
      block: memory.block.bind(memory),
      close: memory.close.bind(memory),
    }
    const cache = new DenyCache(counting, {
      maxEntries: 100,
      maxAgeMs: 3_600_000,
      now: () => (clock.now() - start) / 1_000,
      ...options,
    })
    const ask = (limit: number, cost = 1, key = 'k') =>
      cache.decide([stepFor(plans(limit), { key, cost })], false)
    return { clock, memory, cache, ask, questions: () => questions }
  }
  const made = new Map<number, ReturnType<typeof planOf>>()
  const plans = (limit: number) => {
    const plan = made.get(limit) ?? planOf({ algorithm: 'fixed-window', limit, period: '1h' })
    made.set(limit, plan)
    return plan
  }

  it('answers a refused key without the store until exactly its retry time', async () => {
    const { clock, ask, questions } = setUp()
    await ask(1)
    const { figures } = await ask(1)
    for (let i = 0; i < 50; i++) expect((await ask(1)).allowed).toBe(false)
    expect(questions()).toBe(2)
    clock.advance(figures[0]!.retryAfterMs! - 0.001)
    expect((await ask(1)).figures[0]!.retryAfterMs).toBe(0.001)
    expect(questions()).toBe(2)
    clock.advance(0.001)
    expect((await ask(1)).allowed).toBe(true)
  })

  it('T18: a reset by another process is noticed within maxAgeMs, however long the retry time', async () => {
    const { clock, memory, ask } = setUp({ maxAgeMs: 1_000 })
    await ask(1)
    await ask(1)
    memory.reset(stepFor(plans(1)))
    clock.advance(999.999)
    expect((await ask(1)).allowed).toBe(false)
    clock.advance(0.001)
    expect((await ask(1)).allowed).toBe(true)
  })

  it('T20: admits each ten of a sliding counter as soon as the bare store does', async () => {
    const clock = new FakeClock()
    const start = clock.now()
    const plan = planOf({ algorithm: 'sliding-window-counter', limit: 10, period: '4s' })
    const bare = new MemoryStore({ clock })
    const counts = counter()
    const cached = new DenyCache(new MemoryStore({ clock }), {
      now: () => (clock.now() - start) / 1_000,
      observe: counts.observe,
    })
    const step = stepFor(plan)
    let admitted = 0
    for (let ms = 0; ms < 16_000; ms += 10) {
      const outcome = await cached.decide([step], false)
      expect(outcome).toEqual(bare.decide([step], false))
      if (outcome.allowed) admitted++
      clock.advance(10)
    }
    expect(admitted).toBeGreaterThan(30)
    expect(counts.repeated).toBeGreaterThan(1_000)
  })

  it('T21: says nothing of another policy or another key', async () => {
    const { cache, ask } = setUp()
    await ask(1)
    await ask(1)
    expect((await ask(1, 1, 'other')).allowed).toBe(true)
    expect((await cache.decide([stepFor(plans(1), { name: 'q' })], false)).allowed).toBe(true)
  })

  it('T19, T02: a refusal of a large cost says nothing of a smaller one', async () => {
    const { ask } = setUp()
    expect((await ask(10, 11)).figures[0]!.retryAfterMs).toBe(null)
    expect((await ask(10, 1)).allowed).toBe(true)
  })

  it('asks anew as soon as the limit changes', async () => {
    const { ask } = setUp()
    await ask(1)
    await ask(1)
    expect((await ask(2)).allowed).toBe(true)
  })

  it('remembers no more refusals than it may', async () => {
    const { ask, questions } = setUp()
    for (let i = 0; i < 1_000; i++) {
      await ask(0, 1, `k${i}`)
    }
    await ask(0, 1, 'k999')
    await ask(0, 1, 'k0')
    expect(questions()).toBe(1_001)
  })
})
