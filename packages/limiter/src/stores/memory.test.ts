import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Policy, planOf } from '../core/decide/algorithms.ts'
import { FakeClock, stepFor } from '../testing.ts'
import { MemoryStore } from './memory.ts'
import type { Step } from './store.ts'

const gcra = planOf({ algorithm: 'gcra', limit: 10, period: '1s' })
const log = planOf({ algorithm: 'sliding-window-log', limit: 3, period: '1s' })

function step(key: string, plan = gcra, cost = 1): Step {
  return stepFor(plan, { key, cost })
}

describe('memory store', () => {
  it('gives a hundred thousand keys their own counters, while its tables grow under them', () => {
    const store = new MemoryStore({ clock: new FakeClock() })
    for (let round = 1; round <= 3; round++) {
      let right = 0
      for (let i = 0; i < 100_000; i++) {
        if (store.decide([step(`user:${i}`)], false).figures[0]!.remaining === 10 - round) right++
      }
      expect(right).toBe(100_000)
    }
    expect(store.size).toBe(100_000)
  })

  it('answers as a plain map of states would, whatever grows, is swept or is reused', () => {
    const operation = fc.record({
      key: fc.integer({ min: 0, max: 6_000 }),
      cost: fc.integer({ min: 0, max: 11 }),
      forward: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000_000 })),
    })
    const plans = [gcra, log, planOf({ algorithm: 'fixed-window', limit: 4, period: '2s' })]
    fc.assert(
      fc.property(
        fc.constantFrom(...plans),
        fc.array(operation, { minLength: 50, maxLength: 3_000, size: 'max' }),
        (plan, operations) => {
          const clock = new FakeClock()
          const tested = new MemoryStore({ clock })
          const alone = new Map<number, MemoryStore>() // a store for each key never grows, sweeps or collides
          for (const { key, cost, forward } of operations) {
            clock.advance(forward / 1_000)
            const model = alone.get(key) ?? new MemoryStore({ clock })
            alone.set(key, model)
            const asked = [step(String(key), plan, cost)]
            expect(tested.decide(asked, false)).toEqual(model.decide(asked, false))
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  it('drops states that mean nothing any more, a few with each decision', () => {
    for (const plan of [gcra, log]) {
      const clock = new FakeClock()
      const store = new MemoryStore({ clock })
      for (let i = 0; i < 50_000; i++) store.decide([step(`once:${i}`, plan)], false)
      expect(store.size).toBe(50_000)
      clock.advance(10_000)
      for (let i = 0; i < 60_000; i++) store.decide([step('still here', plan)], false)
      expect(store.size).toBeLessThan(1_100)
    }
  })

  it('never drops what still counts', () => {
    const clock = new FakeClock()
    const store = new MemoryStore({ clock })
    const yearly = planOf({ algorithm: 'fixed-window', limit: 1, period: '365d' })
    store.decide([step('spent', yearly)], false)
    for (let i = 0; i < 100_000; i++) {
      clock.advance(1)
      store.decide([step(`passing:${i}`)], false)
    }
    expect(store.decide([step('spent', yearly)], false).allowed).toBe(false)
  })

  it('at its cap forgives no offender and never admits more than the limit, however many new keys come', () => {
    for (const plan of [
      planOf({ algorithm: 'gcra', limit: 3, period: '1h' }),
      planOf({ algorithm: 'sliding-window-log', limit: 3, period: '1h' }),
    ]) {
      const store = new MemoryStore({ clock: new FakeClock(), maxKeys: 1_000 })
      for (let i = 0; i < 4; i++) store.decide([step('offender', plan)], false)
      for (let i = 0; i < 20_000; i++) store.decide([step(`flood:${i}`, plan)], false)
      expect(store.size).toBe(1_000)
      expect(store.decide([step('offender', plan)], false).allowed).toBe(false)
      let admitted = 0
      for (let i = 0; i < 50; i++) if (store.decide([step('late comer', plan)], false).allowed) admitted++
      expect(admitted).toBeLessThanOrEqual(3)
      expect(store.sharedCharges).toBeGreaterThan(0)
    }
  })

  it('charges a shared bucket for every key of one request', () => {
    const windows = planOf({ algorithm: 'fixed-window', limit: 10_000, period: '1h' })
    const interval = planOf({ algorithm: 'token-bucket', limit: 10_000, period: '1h', refill: 'interval' })
    const wide = planOf({ algorithm: 'sliding-window-log', limit: 10_000, period: '1h' })
    for (const plan of [windows, interval, wide]) {
      const store = new MemoryStore({ clock: new FakeClock(), maxKeys: 1 })
      const steps = Array.from({ length: 3_000 }, (_, i) => step(`${i}`, plan))
      store.decide(steps, false)
      // A bucket that n keys share has n in use, so that each counts for 1/n: in all, as many as there are buckets.
      const inUse = steps.map((own) => 10_000 - store.decide([own], true).figures[0]!.remaining!)
      expect(inUse.reduce((buckets, used) => buckets + 1 / used, 0)).toBeLessThan(1 + 1_024 + 0.5)
    }
  })

  it('keeps a late comer in its shared bucket until that is full again, though room was made', () => {
    const clock = new FakeClock()
    const plan = planOf({ algorithm: 'gcra', limit: 2, period: '10s' })
    const store = new MemoryStore({ clock, maxKeys: 100 })
    const short = planOf({ algorithm: 'gcra', limit: 100, period: '1s' })
    for (let i = 0; i < 100; i++) store.decide([step(`short:${i}`, short)], false)
    expect([0, 1, 2].map(() => store.decide([step('late', plan)], false).allowed)).toEqual([
      true,
      true,
      false,
    ])
    clock.advance(1_000)
    expect(store.decide([step('late', plan)], false).allowed).toBe(false)
  })

  it('keeps states for as long as the slowest plan that shares them', () => {
    const clock = new FakeClock()
    const store = new MemoryStore({ clock })
    const slow = planOf({ algorithm: 'token-bucket', limit: 1, period: '1h' })
    const fast = planOf({ algorithm: 'token-bucket', limit: 1_000_000, period: '1h' })
    store.decide([step('slow', slow)], false)
    for (let i = 0; i < 5_000; i++) store.decide([step(`fast:${i}`, fast)], false)
    clock.advance(60_000)
    for (let i = 0; i < 100_000; i++) store.decide([step(`fast:${i % 3_000}`, fast)], false)
    expect(store.decide([step('slow', slow)], false).allowed).toBe(false)
  })

  it('T49: an offender stays refused while five thousand others pass by', () => {
    const store = new MemoryStore({ clock: new FakeClock() })
    const one = planOf({ algorithm: 'fixed-window', limit: 1, period: '1m' })
    store.decide([step('offender', one)], false)
    for (let i = 0; i < 5_001; i++) store.decide([step(`other:${i}`, one)], false)
    expect(store.decide([step('offender', one)], false).allowed).toBe(false)
  })

  it('FB-081: memory follows what was stored, not what the limit would allow', () => {
    const store = new MemoryStore({ clock: new FakeClock() })
    const huge = planOf({ algorithm: 'sliding-window-log', limit: 1_000_000, period: '1m' })
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 200; i++) store.decide([step(`client:${i}`, huge)], false)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200 * 1_000)
  })

  it('T29, FB-019: windows of a year need no timer', () => {
    const clock = new FakeClock()
    const store = new MemoryStore({ clock })
    const yearly: Policy = { algorithm: 'fixed-window', limit: 5, period: '365d' }
    const plan = planOf(yearly)
    for (let i = 0; i < 5; i++) {
      expect(store.decide([step('k', plan)], false).allowed).toBe(true)
      clock.advance(1_000)
    }
    const { allowed, figures } = store.decide([step('k', plan)], false)
    expect(allowed).toBe(false)
    const window = 365 * 86_400_000
    expect(figures[0]!.retryAfterMs).toBe(window - ((clock.now() / 1_000) % window))
  })

  it('FB-004: a state written while the clock was two days ahead locks nobody out', () => {
    const clock = new FakeClock()
    const store = new MemoryStore({ clock })
    const plan = planOf({ algorithm: 'token-bucket', limit: 20, period: '10s' })
    clock.advance(2 * 86_400_000)
    store.decide([step('k', plan)], false)
    clock.advance(-2 * 86_400_000)
    expect(store.decide([step('k', plan)], false)).toMatchObject({
      allowed: true,
      figures: [{ remaining: 18 }],
    })
  })

  it('counts refusals for a block, which then refuses for its time', () => {
    const clock = new FakeClock()
    const store = new MemoryStore({ clock })
    const plan = planOf({ algorithm: 'fixed-window', limit: 1, period: '1s' })
    const asked = [stepFor(plan, { name: 'login', block: { after: 2, within: '1m', for: '15m' } })]
    expect([1, 2, 3].map(() => store.decide(asked, false).allowed)).toEqual([true, false, false])
    clock.advance(2_000)
    const { allowed, figures } = store.decide(asked, false)
    expect(allowed).toBe(false)
    expect(figures[0]).toMatchObject({
      allowed: false,
      blocked: true,
      remaining: 0,
      retryAfterMs: 15 * 60_000 - 2_000,
    })
    clock.advance(15 * 60_000)
    expect(store.decide(asked, false).allowed).toBe(true)
  })
})
