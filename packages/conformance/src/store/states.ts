import { deepEqual, equal, ok } from 'node:assert/strict'
import { planOf } from '@sluice/limiter/algorithms'
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
