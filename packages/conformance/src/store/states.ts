import { deepEqual, equal, ok } from 'node:assert/strict'
import { type Policy, planOf } from '@sluice/limiter/algorithms'
import type { Step } from '@sluice/limiter/decide'
import type { Store } from '@sluice/limiter/stores/store'
import { perMinute, type StoreBench, type Tests, tenPerTen } from './bench.ts'

const LONG_KEY = 'x'.repeat(10_240)

/** Keys that differ, however a store writes them down. */
const KEYS: readonly string[] = [
  ...['', ' ', '0', 'k', 'K', '__proto__', 'constructor', 'hasOwnProperty', 'null', 'undefined'],
  ...[
    'a',
    'a:b',
    'a|b',
    'a/b',
    'a,b',
    'a\nb',
    'a\u0000b',
    'a\r\nb',
    '{a}',
    '{a',
    'a}',
    '*',
    '\\',
    '"',
    '%3A',
  ],
  ...['é', 'e\u0301', '🙂', '🙃', '\ud83d', '\ud83e', '\ude42', '\ufffd', 'İ', 'ı'],
  ...[LONG_KEY, `${LONG_KEY}x`, `${LONG_KEY}y`, `y${LONG_KEY}`],
]

/** How states are distinguished and kept. */
export const states: Tests = {
  'keeps all keys apart, whatever is in them': async (bench) => {
    for (const plan of [perMinute(1), tenPerTen('sliding-window-log', { limit: 1 })]) {
      const steps = KEYS.map((key) => bench.step('p', plan, { key }))
      for (const step of steps)
        equal((await bench.ask(step)).allowed, true, JSON.stringify(step.key.slice(0, 20)))
      for (const step of steps) equal((await bench.ask(step)).allowed, false)
    }
  },

  'never confuses the end of a policy’s name with the beginning of a key': async (bench) => {
    for (const glue of [':', '|', '/', '\u0000', '}']) {
      const [left, right] = [
        bench.step(`p${glue}a`, perMinute(1), { key: `b${glue}c` }),
        bench.step('p', perMinute(1), { key: `a${glue}b${glue}c` }),
      ]
      equal((await bench.ask(left)).allowed, true)
      equal((await bench.ask(right)).allowed, true)
    }
  },

  'shifts the windows of a key by its phase': async (bench) => {
    for (const algorithm of ['fixed-window', 'sliding-window-counter'] as const) {
      const plan = planOf({ algorithm, limit: 2, period: '1m' })
      const shifted = bench.step(algorithm, plan, { phase: 15_000_000, cost: 2 })
      const start = bench.clock.now()
      const { at } = await bench.decide(shifted)
      equal((await bench.peek(shifted, 1)).moreAfterMs, algorithm === 'fixed-window' ? 15_000 : 15_000.001)
      await bench.store.settle([{ step: shifted, at, change: -1 }])
      equal((await bench.peek(shifted)).remaining, 1)
      bench.clock.advance(14_999.999)
      equal((await bench.peek(shifted)).remaining, 1)
      bench.clock.advance(60_000.001)
      equal((await bench.ask(shifted, 2)).allowed, true)
      bench.clock.set(start)
    }
  },

  'OF-01: keeps what was used where a changed limit has to be counted in another unit of time': async (
    bench,
  ) => {
    bench.clock.advance(0.4)
    const changes: readonly (readonly [small: Partial<Policy>, large: Partial<Policy>])[] = [
      [{ limit: 104_249 }, { limit: 104_250 }],
      [{ limit: 104_249_991 }, { limit: 104_249_992 }],
    ]
    const bursts = changes.map((each) => each.map(({ limit = 0 }) => ({ limit: 10, burst: limit })))
    const arrivals = [52_124, 52_125].map((burst) => ({ limit: 1, burst, refill: 'interval' as const }))
    const cases = [
      ...(['token-bucket', 'gcra', 'leaky-bucket'] as const).map(
        (algorithm) => [algorithm, [...changes, ...bursts]] as const,
      ),
      ['sliding-window-counter', changes],
      ['token-bucket', [arrivals]],
    ] as const
    for (const [algorithm, each] of cases) {
      for (const options of each) {
        const [small, large] = options.map((own) =>
          bench.step(JSON.stringify([algorithm, options]), tenPerTen(algorithm, { period: '1d', ...own })),
        ) as [Step, Step]
        equal(small.rule.plan.unit < large.rule.plan.unit, true)
        equal((await bench.ask(small, small.rule.plan.capacity)).remaining, 0)
        equal((await bench.ask(large, 1)).remaining, 0)
        equal((await bench.peek(small)).remaining, 0)
        await bench.store.settle([{ step: large, at: bench.clock.now(), change: -3 }])
        deepEqual([(await bench.peek(small)).remaining, (await bench.peek(large)).remaining], [2, 3])
      }
    }
  },

  'keeps a block, and what was used, whatever else of a rule changes': async (bench) => {
    const block = { after: 1, within: '1m', for: '1h' }
    const [before, after] = [block, { after: 9, within: '1s', for: '1s' }].map((each) =>
      bench.step('p', perMinute(5), { block: each }),
    ) as [Step, Step]
    await bench.ask(before, 6)
    equal((await bench.peek(after)).blocked, true)
    const shadow = bench.step('q', perMinute(5), { mode: 'shadow' })
    await bench.ask(shadow, 4)
    const spread = bench.step('q', perMinute(5), { phase: 20_000_000, onLimit: 'deprioritize' })
    equal((await bench.peek(spread)).remaining, 1)
    const greedy = bench.step('r', tenPerTen('token-bucket'))
    await bench.ask(greedy, 7)
    const arriving = bench.step('r', tenPerTen('token-bucket', { refill: 'interval' }))
    equal((await bench.ask(arriving, 2)).remaining, 1)
    equal((await bench.peek(greedy)).remaining, 1)
  },

  'gives back by an old limit, and charges by it, what is in use by a larger one': async (bench) => {
    for (const algorithm of ['token-bucket', 'leaky-bucket'] as const) {
      for (const refill of algorithm === 'token-bucket' ? (['greedy', 'interval'] as const) : [undefined]) {
        const [old, raised] = [10, 1_000].map((limit) =>
          bench.step(`${algorithm} ${refill}`, tenPerTen(algorithm, { limit, ...(refill && { refill }) })),
        ) as [Step, Step]
        const { at } = await bench.decide(old)
        await bench.ask(raised, 900)
        await bench.store.settle([{ step: old, at, change: -1 }])
        equal((await bench.peek(raised)).remaining, 100)
        await bench.store.settle([{ step: old, at, change: 5 }])
        equal((await bench.peek(raised)).remaining, 100)
      }
    }
  },

  'keeps its promises to the microsecond where it must count in milliseconds, or seconds': async (bench) => {
    for (const [limit, unit] of [
      [86_400_000, 1_000],
      [86_400_000_000, 1_000_000],
    ] as const) {
      for (const algorithm of ['token-bucket', 'sliding-window-counter'] as const) {
        const plan = planOf({ algorithm, limit, period: '1d' })
        equal(plan.unit, unit)
        bench.clock.advance(0.4)
        const step = bench.step(`${algorithm}/${unit}`, plan)
        equal((await bench.ask(step, limit)).remaining, 0)
        const { retryAfterMs } = await bench.ask(step)
        equal((bench.clock.now() + Math.round(retryAfterMs! * 1_000)) % unit, 0)
        await keepsItsPromise(bench, step, retryAfterMs!)
      }
    }
  },
}

/** How states are dropped, by a store that tells how many it holds. */
export function drops<S extends Store>(count: (store: S) => number | Promise<number>): Tests<S> {
  return {
    'deletes states once they have recovered, and none before': async (bench) => {
      const log = tenPerTen('sliding-window-log', { limit: 1 })
      const bucket = tenPerTen('token-bucket')
      const steps = Array.from({ length: 3_000 }, (_, i) => {
        const plan = i % 2 ? log : bucket
        return bench.step(plan.kind, plan, { key: `k${i}`, cost: plan.capacity })
      })
      for (const step of steps) await bench.ask(step)
      bench.clock.advance(9_999.999)
      await bustle(bench)
      equal(await refusedCount(bench, steps), 3_000)
      bench.clock.advance(0.001)
      await bustle(bench)
      const kept = await count(bench.store)
      ok(kept < 2_000, `${kept} states are still kept`)
    },

    'drops no state early because its key has a phase of its own': async (bench) => {
      const steps = Array.from({ length: 3_000 }, (_, i) =>
        bench.step('p', perMinute(1), { key: `k${i}`, phase: 20_000 * i }),
      )
      for (const step of steps) await bench.ask(step)
      bench.clock.advance(30_000)
      await bustle(bench)
      equal(await refusedCount(bench, steps), 1_500) // the one without a phase, and those whose windows end later
    },
  }
}

/** Refused one tick before the wait is over, admitted when it is. */
async function keepsItsPromise(bench: StoreBench, step: Step, waitMs: number): Promise<void> {
  bench.clock.advance(waitMs - 0.001)
  const early = await bench.ask(step)
  bench.clock.advance(0.001)
  const due = await bench.ask(step)
  deepEqual([early.allowed, early.retryAfterMs, due.allowed], [false, 0.001, true])
}

/** Traffic of one other key, in the course of which a store that sweeps will have swept. */
async function bustle(bench: StoreBench): Promise<void> {
  const other = bench.step('other', tenPerTen('gcra'))
  for (let i = 0; i < 12_000; i++) await bench.store.decide([other], false)
}

async function refusedCount(bench: StoreBench, steps: readonly Step[]): Promise<number> {
  let refusals = 0
  for (const step of steps) if (!(await bench.peek(step)).allowed) refusals++
  return refusals
}
