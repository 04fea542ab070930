import { deepEqual, equal } from 'node:assert/strict'
import { algorithms, type Plan, planOf } from '@sluice/limiter/algorithms'
import { type Charge, chargedAt, type Step } from '@sluice/limiter/decide'
import { variantsOf } from '../variants.ts'
import { PLANS, perMinute, type StoreBench, type Tests, tenPerTen } from './bench.ts'

/** What becomes of a charge that is corrected later, by one algorithm. */
function correctionsBy(name: string, plan: Plan): Tests {
  return {
    [`charges more, into debt, and gives back, never above the limit: ${name}`]: async (bench) => {
      const step = bench.step('p', plan, { cost: 8 })
      const remaining: number[] = []
      const { at } = await bench.decide(step)
      for (const change of [1, 3, -4, -9, 2]) {
        equal(await bench.store.settle([{ step, at, change }]), true)
        remaining.push((await bench.peek(step)).remaining)
      }
      deepEqual(remaining, [1, 0, 2, 10, 8])
    },

    [`gives back once what was drained or aged since: ${name}`]: async (bench) => {
      const { step, at, change } = await charged(bench, plan, 8)
      bench.clock.advance(4_000)
      const before = (await bench.peek(step)).remaining
      await bench.store.settle([{ step, at, change: -2 }])
      equal((await bench.peek(step)).remaining, before + 2)
      bench.clock.advance(6_000)
      await bench.store.settle([{ step, at, change }])
      const free = (await bench.peek(step)).remaining
      equal(free, 10)
      await bench.ask(step, free)
      if (name.startsWith('sliding-window-counter')) return // there the window before still counts, so it can be given back
      await bench.store.settle([{ step, at, change }])
      equal((await bench.peek(step)).remaining, 0)
    },

    [`OF-03: gives back what was charged while the clock was behind: ${name}`]: async (bench) => {
      const step = bench.step('p', plan)
      await bench.ask(step)
      bench.clock.advance(-500)
      const held = { ...step, cost: 5 }
      const outcome = await bench.decide(held)
      equal(outcome.figures[0]!.remaining, 4)
      await bench.store.settle([{ step: held, at: chargedAt(outcome, 0), change: -5 }])
      equal((await bench.peek(step)).remaining, 9)
      const several = await bench.decide(bench.step('other', plan), held)
      await bench.store.settle([{ step: held, at: chargedAt(several, 1), change: -5 }])
      equal((await bench.peek(step)).remaining, 9)
    },

    [`waits out a debt: ${name}`]: async (bench) => {
      const step = bench.step('p', plan)
      await bench.ask(step, 10)
      await bench.store.settle([{ step, at: bench.clock.now(), change: 10 }])
      const { allowed, remaining, retryAfterMs, moreAfterMs } = await bench.peek(step)
      deepEqual([allowed, remaining], [false, 0])
      equal(retryAfterMs, moreAfterMs)
      bench.clock.advance(retryAfterMs! - 0.001)
      equal((await bench.peek(step)).allowed, false)
      bench.clock.advance(0.001)
      equal((await bench.ask(step)).allowed, true)
      equal((await bench.ask(step, 0)).allowed, true)
    },
  }
}

/** What becomes of a charge that is corrected later. */
export const settlements: Tests = {
  ...Object.assign({}, ...PLANS.map(([name, plan]) => correctionsBy(name, plan))),

  'gives back into no window but the one that was charged': async (bench) => {
    const { step, at, change } = await charged(bench, perMinute(10), 6)
    bench.clock.advance(60_000)
    await bench.ask(step, 5)
    await bench.store.settle([{ step, at, change }])
    equal((await bench.peek(step)).remaining, 5)
  },

  'charges more to nobody while the limit is 0: what was used goes on as it was': async (bench) => {
    for (const { name, policy } of variantsOf((name) => !algorithms[name].traits.holds)) {
      const { step, at } = await charged(bench, tenPerTen(policy.algorithm, policy), 8, name)
      const none = bench.step(name, tenPerTen(policy.algorithm, { ...policy, limit: 0 }))
      bench.clock.advance(9_000)
      const before = await bench.peek(step)
      await bench.store.settle([{ step: none, at, change: 5 }])
      deepEqual([name, await bench.peek(step)], [name, before])
    }
  },

  'gives nothing back to a key that it does not know': async (bench) => {
    for (const [name, plan] of PLANS) {
      const step = bench.step(name, plan)
      equal(await bench.store.settle([{ step, at: bench.clock.now(), change: -5 }]), true)
      equal((await bench.ask(step, 10)).remaining, 0)
    }
  },

  'settles several charges together': async (bench) => {
    const [a, b] = [await charged(bench, perMinute(10), 6), await charged(bench, perMinute(20), 6, 'other')]
    await bench.store.settle([
      { ...a, change: -1 },
      { ...b, change: 4 },
    ])
    deepEqual([(await bench.peek(a.step)).remaining, (await bench.peek(b.step)).remaining], [5, 10])
  },

  'settles once under one id, and at no time after it is over': async (bench) => {
    const { step, at } = await charged(bench, perMinute(10), 6)
    const until = at + 30_000_000
    const settle = (id: string, change: number) => bench.store.settle([{ step, at, change }], { id, until })
    deepEqual(await Promise.all([settle('a', -1), settle('a', -1), settle('b', -1)]), [true, false, true])
    equal((await bench.peek(step)).remaining, 6)
    bench.clock.advance(29_999.999)
    equal(await settle('a', -1), false)
    equal(await settle('c', 1), true)
    bench.clock.advance(0.001)
    equal(await settle('d', -1), false)
    equal((await bench.peek(step)).remaining, 5)
  },

  'releases a slot by the id of its charge, once, and by itself when its time is over': async (bench) => {
    const plan = planOf({ algorithm: 'concurrency', limit: 3, period: '10s' })
    const slot = (name: number, cost = 1): Step => bench.step('jobs', plan, { chargeId: name, cost })
    const release = (name: number, cost = 1) =>
      bench.store.settle([{ step: slot(name), at: bench.clock.now(), change: -cost }])
    await bench.decide(slot(1))
    bench.clock.advance(1_000)
    await bench.decide(slot(2, 2))
    const full = await bench.ask(slot(3))
    deepEqual([full.allowed, full.retryAfterMs, full.resetAfterMs], [false, 9_000, 10_000])
    for (const _ of [1, 2]) await release(1)
    await release(99)
    equal((await bench.peek(slot(3))).remaining, 1)
    bench.clock.advance(9_999.999)
    equal((await bench.peek(slot(3))).remaining, 1)
    bench.clock.advance(0.001)
    equal((await bench.peek(slot(3))).remaining, 3)
    await bench.decide(slot(4))
    await release(2)
    equal((await bench.peek(slot(3))).remaining, 2)
  },

  'OF-02: gives no turn of a queue twice when one that waits gives up': async (bench) => {
    const plan = planOf({ algorithm: 'leaky-bucket', limit: 1, period: '1s', burst: 10 })
    const step = bench.step('queue', plan)
    const join = async (cost = 1): Promise<Turn> => {
      const joining = { ...step, cost }
      const outcome = await bench.decide(joining)
      return {
        delayMs: outcome.figures[0]!.delayMs,
        charge: { step: joining, at: chargedAt(outcome, 0), change: -cost },
      }
    }
    const leave = ({ charge }: Turn, units = 1) => bench.store.settle([{ ...charge, change: -units }])
    const [, second, third] = [await join(), await join(), await join()]
    deepEqual([second.delayMs, third.delayMs], [1_000, 2_000])
    await leave(second)
    equal((await bench.peek(step)).remaining, 8)
    const fourth = await join()
    deepEqual([fourth.delayMs, (await bench.peek(step)).remaining], [3_000, 7])
    await leave(fourth) // the last turn can be given again
    const long = await join(5)
    equal(long.delayMs, 3_000)
    await leave(long, 3)
    const next = await join()
    equal(next.delayMs, 5_000)
    bench.clock.advance(4_000) // all but one of those in use have drained; the turn at 5 s has not come
    const after = await join()
    deepEqual([after.delayMs, after.charge.at], [2_000, bench.clock.now() + 2_000_000])
    for (const each of [next, after]) await leave(each)
    equal((await bench.peek(step)).remaining, 10)
    bench.clock.advance(3_000)
    const { delayMs, charge } = await join()
    deepEqual([delayMs, charge.at], [0, bench.clock.now()])
  },

  'forgets one state, and no other': async (bench) => {
    const step = bench.step('p', perMinute(1))
    const others = [
      { ...step, key: 'other' },
      bench.step('other', perMinute(1)),
      { ...step, rule: { ...step.rule, plan: tenPerTen('sliding-window-log', { limit: 1 }) } },
    ]
    await bench.store.reset(step)
    for (const each of [step, ...others]) equal((await bench.ask(each)).allowed, true)
    await bench.store.reset(step)
    for (const each of others) equal((await bench.ask(each)).allowed, false)
    equal((await bench.ask(step)).allowed, true)
    await bench.store.reset(others[2]!)
    equal((await bench.ask(others[2]!)).allowed, true)
  },
}

interface Turn {
  readonly delayMs: number
  readonly charge: Charge
}

async function charged(
  bench: StoreBench,
  plan: Plan,
  cost: number,
  name = 'p',
): Promise<{ step: Step; at: number; change: number }> {
  const step = bench.step(name, plan, { cost })
  const { at } = await bench.decide(step)
  return { step, at, change: -cost }
}
