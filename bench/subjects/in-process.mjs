// A decision in this process: nanoseconds of CPU, the making of the key from bytes included, as a server makes it; then
// how long single decisions take, in microseconds, and the longest pause of the collector meanwhile, in milliseconds.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PerformanceObserver } from 'node:perf_hooks'
import { ownCpu } from '../cpu.mjs'
import { ALGORITHMS, decideWith, LIBRARIES } from '../deciders.mjs'
import { keyOf, WIDTH, writeKey } from '../keys.mjs'

const BATCH = 4_096
const DECISIONS = 300_000
/** Decisions of which each is timed. */
const SINGLE = 100_000
const MILLION = 1_000_000

const OURS = ['sluice check', 'sluice allow']
const ONCE_A_TURN = OURS.map((name) => `${name}, clock read once a turn`)
const ALL = [...OURS, ...LIBRARIES, 'string alone']
const several = (n) =>
  [...OURS, 'express-rate-limit', 'rate-limiter-flexible'].map((name) => `${name}, ${n} limits`)

export const scenarios = {
  'hot key': { unit: 'ns', candidates: [...ALL, ...ONCE_A_TURN, 'C'] },
  '1 M keys uniform': { unit: 'ns', candidates: [...ALL, 'C'] },
  '1 M keys Zipf': { unit: 'ns', candidates: ALL },
  'denied, one key': { unit: 'ns', candidates: ALL },
  'every key new': { unit: 'ns', candidates: [...ALL, 'sluice allow, fixed-window'] },
  'two and three limits': { unit: 'ns', candidates: [...OURS, ...several(2), ...several(3)] },
  algorithms: {
    unit: 'ns',
    candidates: [
      ...ALGORITHMS.map((name) => `sluice check, ${name}`),
      ...OURS.map((name) => `${name}, gcra, all used`),
    ],
  },
}

const TIMED = ['1 M keys uniform', 'every key new']

export const tables = [
  {
    head: 'ns',
    columns: ['hot key', '1 M keys uniform', '1 M keys Zipf', 'denied, one key', 'every key new'],
  },
  ...TIMED.map((scenario) => ({
    head: `${scenario}, single decisions`,
    columns: ['p50, us', 'p99, us', 'p99.9, us', 'longest collection, ms'].map((figure) => [
      figure,
      scenario,
      figure,
    ]),
  })),
  { head: 'hot key', columns: [['ns', 'two and three limits']] },
  { head: 'hot key', columns: [['ns', 'algorithms']] },
  { head: '1 M keys', columns: [['bytes a key', '1 M keys uniform', 'bytes a key']] },
]

/** The same table and law in C, reading a clock: keys made outside, so the row "string alone" is to be added. */
function inC(scenario) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    const program = join(folder, 'limit')
    execFileSync('cc', ['-O2', new URL('../limit.c', import.meta.url).pathname, '-o', program, '-lm'])
    return { ns: Number(execFileSync(program, [scenario === 'hot key' ? 'hot' : 'uniform'])) }
  } catch (error) {
    throw error.code === 'ENOENT' ? new Error('no C compiler (cc) is installed') : error
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The policy of a scenario, if it is not the usual one. */
function shapeOf(scenario) {
  if (scenario === 'every key new') return { limit: 100, period: '1s', windowMs: 1_000 }
  return { denied: scenario.startsWith('denied') }
}

/** Numbers of keys: all of them in turn, then by chance. */
function idsOf(scenario) {
  let next = 0
  if (scenario === 'every key new') return () => next++
  if (!scenario.startsWith('1 M keys')) return () => 7
  // By Zipf's law with exponent 1, nearly: each tenfold of ranks is asked as often.
  const drawn = scenario.endsWith('Zipf')
    ? () => Math.floor(MILLION ** Math.random()) - 1
    : () => Math.floor(Math.random() * MILLION)
  return () => (next < MILLION ? next++ : drawn())
}

export async function run(scenario, candidate) {
  if (candidate === 'C') return inC(scenario)
  const { decide, waits } = await decideWith(candidate, shapeOf(scenario))
  const idOf = idsOf(scenario)
  const buffer = Buffer.alloc(BATCH * WIDTH)
  const drain = waits
    ? async () => {
        for (let at = 0; at < buffer.length; at += WIDTH) {
          try {
            await decide(buffer.latin1Slice(at, at + WIDTH))
          } catch {
            // how rate-limiter-flexible refuses
          }
        }
      }
    : () => {
        for (let at = 0; at < buffer.length; at += WIDTH) decide(buffer.latin1Slice(at, at + WIDTH))
      }
  const timed = async (count) => {
    let [cpu, time, done] = [0, 0, 0]
    for (; done < count; done += BATCH) {
      for (let j = 0; j < BATCH; j++) writeKey(buffer, j * WIDTH, idOf())
      const [cpuBefore, before] = [ownCpu(), performance.now()]
      await drain()
      cpu += ownCpu() - cpuBefore
      time += performance.now() - before
      if (done % (BATCH * 8) === 0) await new Promise((resolve) => setImmediate(resolve)) // timers and collectors have their turn
    }
    return { ns: (cpu * 1_000) / done, 'a second': (done / time) * 1_000 }
  }
  const isMillion = scenario.startsWith('1 M keys')
  const before = heldBytes()
  await timed(isMillion ? MILLION : DECISIONS)
  const bytes = (heldBytes() - before) / MILLION
  return {
    ...(await timed(DECISIONS)),
    ...(isMillion && candidate !== 'string alone' && { 'bytes a key': bytes }),
    ...(TIMED.includes(scenario) && (await singles(decide, waits, idOf))),
  }
}

function heldBytes() {
  gc()
  gc() // what the first one freed may still be counted
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Waits for single decisions, and the longest collection meanwhile. */
async function singles(decide, waits, idOf) {
  let pause = 0
  const collections = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) pause = Math.max(pause, duration)
  })
  collections.observe({ entryTypes: ['gc'] })
  const took = new Float64Array(SINGLE)
  for (let i = 0; i < SINGLE; i++) {
    const key = keyOf(idOf())
    const began = performance.now()
    const answer = decide(key)
    if (waits) await answer
    took[i] = (performance.now() - began) * 1_000
    if (i % BATCH === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await new Promise((resolve) => setTimeout(resolve, 10)) // the observer hears of the last ones
  took.sort()
  const at = (share) => took[Math.floor(SINGLE * share)]
  return {
    'p50, us': at(0.5),
    'p99, us': at(0.99),
    'p99.9, us': at(0.999),
    'longest collection, ms': pause,
  }
}
