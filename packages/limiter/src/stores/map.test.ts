import { storeSuite } from '@sluice/conformance'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Policy, planOf } from '../core/decide/algorithms.ts'
import { ConfigError } from '../core/errors.ts'
import { createLimiter } from '../limiter.ts'
import { FakeClock, stepFor } from '../testing.ts'
import { MapStore } from './map.ts'
import { MemoryStore } from './memory.ts'
import type { Step } from './store.ts'

storeSuite({ describe, it }, 'MapStore', (clock) => new MapStore({ clock }))

const gcra = planOf({ algorithm: 'gcra', limit: 10, period: '1s' })
const log = planOf({ algorithm: 'sliding-window-log', limit: 3, period: '1s' })

function step(key: string, plan = gcra, cost = 1): Step {
  return stepFor(plan, { key, cost })
}

describe('MapStore', () => {
  it('answers as MemoryStore does, whatever is deleted meanwhile', () => {
    const operation = fc.record({
      key: fc.integer({ min: 0, max: 600 }),
      cost: fc.integer({ min: 0, max: 11 }),
      forward: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000_000 })),
    })
    const windows = planOf({ algorithm: 'fixed-window', limit: 4, period: '2s' })
    fc.assert(
      fc.property(
        fc.constantFrom(gcra, log, windows),
        fc.array(operation, { minLength: 50, maxLength: 1_500, size: 'max' }),
        (plan, operations) => {
          const clock = new FakeClock()
          const [tested, model] = [new MapStore({ clock }), new MemoryStore({ clock })]
          for (const { key, cost, forward } of operations) {
            clock.advance(forward / 1_000)
            const asked = [step(String(key), plan, cost)]
            expect(tested.decide(asked, false)).toEqual(model.decide(asked, false))
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  it('deletes what means nothing any more, a few states with each decision', () => {
    for (const plan of [gcra, log]) {
      const clock = new FakeClock()
      const store = new MapStore({ clock })
      for (let i = 0; i < 5_000; i++) store.decide([step(`once:${i}`, plan)], false)
      expect(store.size).toBe(5_000)
      clock.advance(10_000)
      for (let i = 0; i < 2_000; i++) store.decide([step('still here', plan)], false)
      expect(store.size).toBeLessThan(140)
    }
  })

  it('keeps states for as long as the slowest plan that shares them', () => {
    const clock = new FakeClock()
    const store = new MapStore({ clock })
    const slow = planOf({ algorithm: 'token-bucket', limit: 1, period: '1h' })
    const fast = planOf({ algorithm: 'token-bucket', limit: 1_000_000, period: '1h' })
    store.decide([step('slow', slow)], false)
    store.decide([step('fast', fast)], false)
    clock.advance(60_000)
    for (let i = 0; i < 1_000; i++) store.decide([step(`fast:${i}`, fast)], false)
    expect(store.decide([step('slow', slow)], false).allowed).toBe(false)
  })

  it('at its cap forgives no offender and never admits more than the limit, however many new keys come', () => {
    for (const plan of [
      planOf({ algorithm: 'gcra', limit: 3, period: '1h' }),
      planOf({ algorithm: 'sliding-window-log', limit: 3, period: '1h' }),
    ]) {
      const store = new MapStore({ clock: new FakeClock(), maxKeys: 100 })
      for (let i = 0; i < 4; i++) store.decide([step('offender', plan)], false)
      for (let i = 0; i < 2_000; i++) store.decide([step(`flood:${i}`, plan)], false)
      expect(store.size).toBe(100)
      expect(store.decide([step('offender', plan)], false).allowed).toBe(false)
      let admitted = 0
      for (let i = 0; i < 50; i++) if (store.decide([step('late comer', plan)], false).allowed) admitted++
      expect(admitted).toBeLessThanOrEqual(3)
    }
  })

  it('keeps a late comer in its shared bucket until that is full again, though room was made', () => {
    const clock = new FakeClock()
    const plan = planOf({ algorithm: 'gcra', limit: 2, period: '10s' })
    const store = new MapStore({ clock, maxKeys: 100 })
    const short = planOf({ algorithm: 'gcra', limit: 100, period: '1s' })
    for (let i = 0; i < 100; i++) store.decide([step(`short:${i}`, short)], false)
    const ask = (): boolean => store.decide([step('late', plan)], false).allowed
    expect([ask(), ask(), ask()]).toEqual([true, true, false])
    clock.advance(1_000)
    expect(ask()).toBe(false)
    clock.advance(10_000)
    expect([ask(), store.size]).toEqual([true, expect.any(Number)])
  })

  it('tells long keys apart without keeping them', () => {
    const store = new MapStore({ clock: new FakeClock() })
    const once: Policy = { algorithm: 'fixed-window', limit: 1, period: '1m' }
    const limiter = createLimiter({ store, policies: { once } })
    const long = 'x'.repeat(10_000)
    expect([`${long}1`, `${long}2`, `${long}1`].map((key) => limiter.check(key).allowed)).toEqual([
      true,
      true,
      false,
    ])
  })

  it('settles a reservation once, also where there is no room to note that', () => {
    const store = new MapStore({ clock: new FakeClock(), maxKeys: 1 })
    const limiter = createLimiter({
      store,
      policies: { api: { algorithm: 'gcra', limit: 10, period: '1m' } },
    })
    const [first, second] = [limiter.reserve('ada', { cost: 4 }), limiter.reserve('ada', { cost: 4 })]
    expect([first.cancel(), first.cancel(), second.cancel()]).toEqual([true, false, false])
    expect(limiter.peek('ada').remaining).toBe(6)
  })

  it('refuses options that are wrong', () => {
    expect(() => new MapStore({ maxKeys: 0 })).toThrow(ConfigError)
    expect(() => new MapStore({ maxKey: 5 } as object)).toThrow('did you mean maxKeys?')
  })
})
