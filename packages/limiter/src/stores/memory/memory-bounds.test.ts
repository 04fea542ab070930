import { variantsOf } from '@sluice/conformance'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { planOf } from '../../core/decide/algorithms.ts'
import { ConfigError } from '../../core/errors.ts'
import { createLimiter } from '../../limiter.ts'
import { FakeClock, stepFor } from '../../testing.ts'
import { MemoryStore } from '../memory.ts'
import type { Step } from '../store.ts'

const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)
const RUNS = Number(process.env.SLUICE_RUNS ?? 5)
const stores: MemoryStore[] = []
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
})

function storeWith(options: ConstructorParameters<typeof MemoryStore>[0]): MemoryStore {
  const store = new MemoryStore(options)
  stores.push(store)
  return store
}

/** States that are held although they mean nothing, in a store of whatever size. */
const KEPT = 128 + 64

describe(`what the store in memory holds (SLUICE_SEED=${SEED})`, () => {
  it('is at most twice what means something, through flood, silence and flood, whatever is mixed', () => {
    const variants = variantsOf()
    const mixed = fc.record({
      variant: fc.nat(variants.length - 1),
      limit: fc.integer({ min: 1, max: 20 }),
      period: fc.constantFrom(50, 300, 1_000, 5_000),
      spread: fc.boolean(),
      block: fc.boolean(),
    })
    const property = fc.property(
      fc.array(mixed, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      (mix, perRequest, isHot) => {
        const clock = new FakeClock()
        const store = storeWith({ clock })
        const rules = mix.map(({ variant, limit, period, spread, block }, i) => {
          const plan = planOf({ ...variants[variant]!.policy, limit, period })
          return stepFor(plan, {
            name: `p${i}`,
            ...(spread && plan.algorithm.traits.aligned && { spread }),
            ...(block && { block: { after: 1, within: '100ms', for: '200ms' } }),
          })
        })
        const hot = [{ ...rules[0]!, key: 'hot' }]
        /** When each state stops to mean anything, in microseconds: as soon as the whole quota is available. */
        let ends: number[] = []
        let keys = 0
        const ask = (steps: readonly Step[]): void => {
          const { allowed, figures, at } = store.decide(steps, false)
          if (allowed) for (const { resetAfterMs } of figures) ends.push(at + resetAfterMs! * 1_000)
          else ends.push(at + 200_000)
        }
        const flood = (count: number): void => {
          for (let i = 1; i <= count; i++) {
            clock.advance(1)
            const key = `key ${keys++}`
            const steps = rules.slice(0, perRequest).map((_, j): Step => {
              const step = rules[(keys + j) % rules.length]!
              const { spread, plan } = step.rule
              const phase = spread > 0 ? (keys * 7_919_000) % spread : 0
              return { ...step, key, cost: 1 + (keys % plan.capacity), phase, chargeId: 1 }
            })
            ask(steps)
            const [first] = steps
            if (first!.rule.block !== undefined) ask([{ ...first!, cost: first!.rule.plan.capacity }])
            if (isHot) store.decide(hot, false)
            if (i % 250 > 0) continue
            // Those that end at one instant are deleted by the requests of the next milliseconds.
            ends = ends.filter((end) => end > clock.now() - 100_000)
            const live = ends.filter((end) => end > clock.now()).length
            expect(store.size).toBeLessThanOrEqual(2 * live + (ends.length - live) + KEPT)
          }
        }
        flood(3_000)
        clock.advance(60_000)
        for (let i = 0; i < 10_000; i++) store.decide(hot, false)
        expect(store.size).toBeLessThanOrEqual(KEPT)
        flood(1_000)
      },
    )
    fc.assert(property, { numRuns: RUNS, seed: SEED })
  })

  it('OF-40: is about two thousand states for two logs of one second and a new key each millisecond', () => {
    const clock = new FakeClock()
    const store = storeWith({ clock })
    const policy = { algorithm: 'sliding-window-log', limit: 1, period: '1s' } as const
    const limiter = createLimiter({ store, policies: { a: policy, b: policy } })
    for (let i = 0; i < 50_000; i++) {
      clock.advance(1)
      limiter.check(`key ${i}`)
    }
    expect(store.size).toBeLessThan(3_000)
    expect(store.bytes).toBeLessThan(3_000 * 400)
  })

  it('OF-40: falls after a flood though nobody asks, and a store that nobody holds is let go', async () => {
    const clock = new FakeClock()
    const store = storeWith({ clock })
    for (const algorithm of ['gcra', 'sliding-window-log', 'concurrency'] as const) {
      const limiter = createLimiter({
        name: algorithm,
        store,
        policies: { a: { algorithm, limit: 5, period: '1s' } },
      })
      for (let i = 0; i < 5_000; i++) limiter.check(`key ${i}`)
    }
    const { bytes } = store
    expect(store.size).toBe(15_000)
    clock.advance(1_000)
    await vi.waitFor(() => expect(store.size).toBeLessThanOrEqual(KEPT), { timeout: 60_000, interval: 50 })
    await vi.waitFor(() => expect(store.bytes).toBeLessThan(bytes / 10), { timeout: 60_000, interval: 50 })
  })

  it('OF-40: at the cap a newcomer gets its own counter as soon as another one has expired', () => {
    for (const algorithm of ['gcra', 'fixed-window', 'sliding-window-log', 'concurrency'] as const) {
      const clock = new FakeClock()
      const store = storeWith({ clock, maxKeys: 1_000 })
      const limiter = createLimiter({ store, policies: { a: { algorithm, limit: 1, period: '1s' } } })
      const long = createLimiter({
        name: 'long',
        store,
        policies: { a: { algorithm, limit: 1, period: '1h' } },
      })
      for (let i = 0; i < 500; i++) {
        limiter.check(`key ${i}`)
        long.check(`key ${i}`)
      }
      clock.advance(2_000)
      for (let i = 0; i < 500; i++) expect(long.check(`newcomer ${i}`).allowed).toBe(true)
      expect([store.size, store.sharedCharges]).toEqual([1_000, 0])
    }
  })

  it('is no more than the empty tables of policies that come and go', () => {
    const clock = new FakeClock()
    const store = storeWith({ clock })
    for (let i = 0; i < 5_000; i++) {
      const limiter = createLimiter({
        name: `tenant ${i}`,
        store,
        policies: { a: { algorithm: 'gcra', limit: 1, period: '1s' } },
      })
      limiter.check('ada')
      clock.advance(100)
    }
    expect(store.bytes).toBeLessThan(400 * 16 * 24)
  })

  it('OF-12: each charge to a shared counter is counted', () => {
    const store = storeWith({ maxKeys: 100, clock: new FakeClock() })
    for (const algorithm of ['fixed-window', 'sliding-window-log'] as const) {
      const limiter = createLimiter({
        name: algorithm,
        store,
        policies: { a: { algorithm, limit: 5, period: '1d' } },
      })
      const before = store.sharedCharges
      const others = algorithm === 'fixed-window' ? 100_000 : 50_000 // so that no counter gets fewer than 5
      if (algorithm === 'fixed-window') for (let i = 0; i < 100; i++) limiter.check(`first ${i}`)
      for (let i = 0; i < others; i++) limiter.check(`other ${i}`)
      expect(store.sharedCharges - before).toBe(5 * 1_024)
    }
  })

  it('OF-41: stays within maxBytes, whatever a key weighs, and forgives nobody for it', () => {
    for (const { policy } of variantsOf()) {
      const clock = new FakeClock()
      const store = storeWith({ clock, maxBytes: '200kB' })
      const limiter = createLimiter({ store, policies: { a: { ...policy, limit: 50, period: '1h' } } })
      limiter.check('offender', { cost: 50 })
      for (let i = 0; i < 8_000; i++) {
        clock.advance(0.1)
        limiter.check(`key ${i % 6_000}`)
      }
      const shared = 1_024 * (280 + 8 * 10) // always allowed
      expect(store.bytes).toBeLessThan(2e5 + shared)
      expect(store.bytes).toBeGreaterThan(4e4)
      expect(store.sharedCharges).toBeGreaterThan(0)
      expect(limiter.check('offender').allowed).toBe(false)
    }
  })

  it('OF-41: a log without room for its entries admits no more than its limit in any period', () => {
    const clock = new FakeClock()
    const store = storeWith({ clock, maxBytes: 1_000 })
    const limiter = createLimiter({
      store,
      policies: { a: { algorithm: 'sliding-window-log', limit: 100, period: '1s' } },
    })
    const admitted: number[] = []
    for (let ms = 0; ms < 10_000; ms += 3) {
      clock.advance(3)
      if (limiter.check('ada').allowed) admitted.push(ms)
    }
    for (let i = 100; i < admitted.length; i++)
      expect(admitted[i]! - admitted[i - 100]!).toBeGreaterThanOrEqual(1_000)
    expect(admitted.length).toBeGreaterThan(500)
  })

  it('gives back the room of a log and of slots that were once many', () => {
    for (const algorithm of ['sliding-window-log', 'concurrency'] as const) {
      const clock = new FakeClock()
      const store = storeWith({ clock })
      const limiter = createLimiter({ store, policies: { a: { algorithm, limit: 10_000, period: '1s' } } })
      for (let i = 0; i < 10_000; i++) {
        if (i % 20 === 0) clock.advance(1)
        limiter.check('ada')
      }
      expect(store.bytes).toBeGreaterThan(8_000)
      clock.advance(900)
      for (let i = 0; i < 5; i++) {
        limiter.check('ada')
        clock.advance(500)
      }
      expect(store.bytes).toBeLessThan(1_500)
    }
  })

  it('OF-42: an id of a settled reservation is forgotten at its own time', () => {
    const clock = new FakeClock()
    const store = storeWith({ clock })
    const at = clock.now()
    expect(store.settle([], { id: 'long', until: at + 86_400e6 })).toBe(true)
    let settled = 0
    for (let i = 0; i < 300_000; i++) {
      clock.advance(1)
      if (store.settle([], { id: `short ${i}`, until: clock.now() + 100_000 })) settled++
    }
    expect(settled).toBe(300_000)
    expect(store.bytes).toBeLessThan(100_000)
    expect(store.settle([], { id: 'long', until: at + 86_400e6 })).toBe(false)
    expect(store.settle([], { id: 'short 299999', until: clock.now() + 100_000 })).toBe(false)
    expect(store.size).toBe(0)
  })

  it('takes bytes as a number, text, or a share of the heap, and nothing else', () => {
    for (const maxBytes of [1_000_000, '64MiB', '1.5 GB', '10%', '100%']) storeWith({ maxBytes })
    for (const maxBytes of [0, -1, Number.NaN, '', '0%', '101%', '5 apples', 'MB', '1e3', '-5MB'])
      expect(() => storeWith({ maxBytes })).toThrow(ConfigError)
  })
})
