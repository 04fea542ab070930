import { deepEqual, equal } from 'node:assert/strict'
import { planOf } from '@sluice/limiter/algorithms'
import type { Outcome } from '@sluice/limiter/stores/store'
import { PLANS, perMinute, type Tests, tenPerTen } from './bench.ts'

/** What becomes of one request: several steps as one, and the roles they play. */
export const requests: Tests = {
  'charges every policy or none, and says of each what it alone would': async (bench) => {
    const wide = bench.step('wide', perMinute(5))
    const narrow = bench.step('narrow', perMinute(1))
    for (const steps of [
      [wide, narrow],
      [narrow, wide],
    ]) {
      await bench.store.reset(narrow)
      equal((await bench.decide(...steps)).allowed, true)
      const before = (await bench.peek(wide)).remaining
      const { allowed: admitted, figures } = await bench.decide(...steps)
      equal(admitted, false)
      deepEqual(allowed(figures), [steps[0] === wide, steps[0] !== wide])
      deepEqual(figures.map((each) => each.retryAfterMs).sort(), [0, 60_000])
      equal((await bench.peek(wide)).remaining, before)
    }
    equal((await bench.peek(wide)).remaining, 3)
  },

  'tells what is left with the charge in it': async (bench) => {
    for (const [name, plan] of PLANS) {
      const step = bench.step(name, plan)
      for (const left of [7, 4, 1]) {
        const { remaining, moreAfterMs, resetAfterMs } = await bench.ask(step, 3)
        equal(remaining, left, name)
        const then = await bench.peek(step)
        deepEqual(
          [remaining, moreAfterMs, resetAfterMs],
          [then.remaining, then.moreAfterMs, then.resetAfterMs],
        )
      }
    }
  },

  'keeps one key under several policies, and several keys under one, apart': async (bench) => {
    const steps = ['a', 'b'].flatMap((name) =>
      ['x', 'y'].map((key) => bench.step(name, perMinute(1), { key })),
    )
    equal((await bench.decide(...steps)).allowed, true)
    deepEqual(allowed((await bench.decide(...steps)).figures), [false, false, false, false])
  },

  'charges a shadow that admits, and never listens to one that refuses': async (bench) => {
    const enforced = bench.step('enforced', perMinute(3))
    const shadow = bench.step('shadow', perMinute(2), { mode: 'shadow' })
    for (const shadowAllows of [true, true, false]) {
      const { allowed: admitted, figures } = await bench.decide(enforced, shadow)
      equal(admitted, true)
      equal(figures[1]!.allowed, shadowAllows)
    }
    equal((await bench.decide(enforced, shadow)).allowed, false)
    bench.clock.advance(60_000)
    equal((await bench.decide(enforced, shadow)).figures[1]!.remaining, 1)
  },

  'charges no shadow of a refused request': async (bench) => {
    const enforced = bench.step('enforced', perMinute(0))
    const shadow = bench.step('shadow', perMinute(2), { mode: 'shadow' })
    const { figures } = await bench.decide(enforced, shadow)
    deepEqual(allowed(figures), [false, true])
    equal((await bench.peek(shadow)).remaining, 2)
  },

  'refuses by quota only when every quota is spent, and charges only those that are not': async (bench) => {
    const quota = (name: string, limit: number, key?: string) =>
      bench.step(name, perMinute(limit), { quota: true, ...(key !== undefined && { key }) })
    const steps = [quota('small', 1), quota('large', 3)]
    const admitted: boolean[] = []
    for (let i = 0; i < 4; i++) admitted.push((await bench.decide(...steps)).allowed)
    deepEqual(admitted, [true, true, true, false])
    const enforced = bench.step('enforced', perMinute(0))
    equal((await bench.decide(quota('large', 3, 'other'), enforced)).allowed, false)
    equal((await bench.peek(quota('large', 3, 'other'))).remaining, 3)
  },

  'counts refusals, and then refuses everything for the time of a block': async (bench) => {
    const limited = bench.step('limited', perMinute(1), { block: { after: 2, within: '30s', for: '5m' } })
    const ask = async () => {
      const { allowed: admitted, figures } = await bench.decide(limited)
      return [admitted, figures[0]!.blocked === true, figures[0]!.retryAfterMs]
    }
    deepEqual(await ask(), [true, false, 0])
    deepEqual(await ask(), [false, false, 60_000])
    bench.clock.advance(1_000)
    await bench.store.decide([limited], true)
    equal((await bench.peek(limited)).blocked, undefined)
    deepEqual(await ask(), [false, true, 300_000])
    bench.clock.advance(60_000)
    deepEqual(await ask(), [false, true, 240_000])
    const { remaining, moreAfterMs, resetAfterMs } = await bench.peek(limited)
    deepEqual([remaining, moreAfterMs, resetAfterMs], [0, 240_000, 240_000])
    bench.clock.advance(240_000 - 0.001)
    equal((await ask())[0], false)
    bench.clock.advance(0.001)
    deepEqual(await ask(), [true, false, 0])
  },

  'forgets refusals of too long ago, and counts none during a block': async (bench) => {
    const limited = bench.step('limited', perMinute(0), { block: { after: 2, within: '30s', for: '1m' } })
    const blockedFor = async () => {
      // At limit 0 no wait helps, so the block shows by the reset that is not there without it.
      const { blocked, resetAfterMs } = await bench.peek(limited)
      return blocked === true ? resetAfterMs : undefined
    }
    await bench.decide(limited)
    bench.clock.advance(30_000)
    await bench.decide(limited)
    equal(await blockedFor(), undefined)
    bench.clock.advance(29_000)
    await bench.decide(limited)
    equal(await blockedFor(), 60_000)
    bench.clock.advance(30_000)
    await bench.decide(limited)
    equal(await blockedFor(), 30_000)
  },

  'refuses outright while one of several rules blocks, also a quota': async (bench) => {
    const quota = bench.step('quota', perMinute(5), { quota: true, blockable: true })
    const other = bench.step('other', perMinute(5), { quota: true })
    equal((await bench.decide(quota, other)).allowed, true)
    await bench.store.block(quota, 10_000_000)
    const { allowed: admitted, figures } = await bench.decide(quota, other)
    equal(admitted, false)
    deepEqual(allowed(figures), [false, true])
    equal((await bench.peek(other)).remaining, 4)
    equal((await bench.ask(quota, 0)).allowed, true)
    await bench.store.block(quota, 0)
    equal((await bench.decide(quota, other)).allowed, true)
  },

  'blocks a key by hand for a time, never for less than before, until it is ended or forgotten': async (
    bench,
  ) => {
    const step = bench.step('hand', perMinute(5), { blockable: true })
    const other = { ...step, key: 'other' }
    await bench.ask(step)
    await bench.store.block(step, 90_000_000)
    await bench.store.block(step, 1_000_000)
    const blocked = await bench.ask(step)
    deepEqual([blocked.allowed, blocked.blocked, blocked.retryAfterMs], [false, true, 90_000])
    equal((await bench.ask(other)).allowed, true)
    await bench.store.block(step, 0)
    deepEqual([(await bench.ask(step)).remaining, (await bench.peek(step)).blocked], [3, undefined])
    await bench.store.block(step, 90_000_000)
    await bench.store.reset(step)
    deepEqual([(await bench.peek(step)).remaining, (await bench.peek(step)).blocked], [5, undefined])
    await bench.store.block(other, 0)
    equal((await bench.ask(other)).remaining, 3)
    for (let i = 0; i < 6; i++) await bench.ask(other)
    equal((await bench.peek(other)).blocked, undefined)
  },

  'ends no block where there is none, so that nothing holds the clock': async (bench) => {
    const step = bench.step('none', perMinute(5), { blockable: true })
    await bench.store.block(step, 90_000_000)
    await bench.store.reset(step)
    bench.clock.advance(30_000)
    await bench.store.block(step, 0)
    bench.clock.advance(-20_000)
    await bench.store.block(step, 5_000_000)
    equal((await bench.peek(step)).retryAfterMs, 5_000)
  },

  'writes nothing when it only looks': async (bench) => {
    const step = bench.step('p', tenPerTen('token-bucket'), { cost: 10 })
    for (let i = 0; i < 2; i++) {
      const { allowed: admitted, figures } = await bench.store.decide([step], true)
      deepEqual([admitted, figures[0]!.remaining, figures[0]!.resetAfterMs], [true, 10, 0])
    }
    equal((await bench.ask(step)).allowed, true)
    equal((await bench.ask(step, 0)).allowed, true)
    equal((await bench.peek(step, 1)).retryAfterMs, 1_000)
  },

  'writes nothing when it refuses, not even when': async (bench) => {
    const step = bench.step('p', tenPerTen('token-bucket'), { cost: 8 })
    await bench.ask(step)
    bench.clock.advance(5_000)
    const before = await bench.ask(step, 0)
    equal((await bench.ask(step)).allowed, false)
    equal((await bench.ask(step, 11)).retryAfterMs, null)
    deepEqual(await bench.ask(step, 0), before)
    bench.clock.advance(-2_000)
    equal((await bench.peek(step)).remaining, 5)
  },

  'holds a clock that steps back at the last admission of each key': async (bench) => {
    const step = bench.step('p', tenPerTen('token-bucket'), { cost: 10 })
    await bench.ask(step)
    bench.clock.advance(-3_600_000)
    equal((await bench.ask(step)).retryAfterMs, 10_000)
    equal((await bench.ask({ ...step, key: 'other' })).allowed, true)
    bench.clock.advance(3_601_000)
    equal((await bench.ask(step)).retryAfterMs, 9_000)
  },

  'reports the turn of a request that queues': async (bench) => {
    const step = bench.step('queue', tenPerTen('leaky-bucket'))
    const delays: number[] = []
    for (let i = 0; i < 3; i++) delays.push((await bench.ask(step)).delayMs)
    deepEqual(delays, [0, 1_000, 2_000])
  },

  'keeps what was used when the limit changes, and starts anew when the algorithm does': async (bench) => {
    await bench.ask(bench.step('p', perMinute(10)), 7)
    equal((await bench.peek(bench.step('p', perMinute(20)))).remaining, 13)
    equal((await bench.peek(bench.step('p', perMinute(5)))).remaining, 0)
    const hourly = planOf({ algorithm: 'fixed-window', limit: 10, period: '1h' })
    equal((await bench.peek(bench.step('p', hourly))).remaining, 10)
    equal((await bench.peek(bench.step('p', tenPerTen('gcra')))).remaining, 10)
    equal((await bench.peek(bench.step('p', perMinute(10)))).remaining, 3)
  },

  'admits no more than the limit of many who ask at once': async (bench) => {
    const wide = bench.step('wide', perMinute(40))
    const narrow = bench.step('narrow', perMinute(7))
    const outcomes = await Promise.all(Array.from({ length: 50 }, async () => bench.decide(wide, narrow)))
    equal(outcomes.filter((outcome) => outcome.allowed).length, 7)
    equal((await bench.peek(wide)).remaining, 33)
  },
}

function allowed(figures: Outcome['figures']): boolean[] {
  return figures.map((each) => each.allowed)
}
