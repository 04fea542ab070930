// A decision in this process: nanoseconds of CPU, the making of the key from bytes included, as a server makes it; then
// how long single decisions take, in microseconds, and the longest pause of the collector meanwhile, in milliseconds.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PerformanceObserver } from 'node:perf_hooks'
import { ownCpu } from '../cpu.mjs'

const WIDTH = 16
const BATCH = 4_096
const DECISIONS = 200_000
/** Decisions of which each is timed. */
const SINGLE = 100_000
const RUNS = 3
const MOST = 1_000_000_000

const LIBRARIES = ['express-rate-limit', 'hono-rate-limiter', 'rate-limiter-flexible', 'a JS Map']
const ALGORITHMS = [
  'gcra',
  'fixed-window',
  'sliding-window-counter',
  'token-bucket',
  'leaky-bucket',
  'sliding-window-log',
]
const OURS = ['sluice check', 'sluice allow']
const ONCE_A_TURN = OURS.map((name) => `${name}, clock read once a turn`)
const [PAIR, TRIPLE] = [2, 3].map((n) => [
  ...OURS.map((name) => `${name}, ${n} limits`),
  ...['express-rate-limit', 'rate-limiter-flexible'].map((name) => `${name}, ${n} limits`),
])

export const scenarios = {
  'hot key': { unit: 'ns', candidates: [...OURS, ...ONCE_A_TURN, ...LIBRARIES, 'string alone', 'C'] },
  '1 M keys uniform': { unit: 'ns', candidates: [...OURS, ...LIBRARIES, 'string alone', 'C'] },
  '1 M keys Zipf': { unit: 'ns', candidates: [...OURS, ...LIBRARIES, 'string alone'] },
  'denied, one key': { unit: 'ns', candidates: [...OURS, ...LIBRARIES, 'string alone'] },
  'every key new': { unit: 'ns', candidates: [...OURS, ...LIBRARIES, 'string alone'] },
  'two and three limits': { unit: 'ns', candidates: [...OURS, ...PAIR, ...TRIPLE] },
  algorithms: { unit: 'ns', candidates: ALGORITHMS.map((name) => `sluice check, ${name}`) },
  'after all algorithms': { unit: 'ns', candidates: OURS.flatMap((name) => [name, `${name}, all used`]) },
  'bytes a key, 1 M keys': { unit: 'bytes', candidates: ['sluice allow', ...LIBRARIES] },
}

const TIMED = ['1 M keys uniform', 'every key new']

export const tables = [
  {
    head: 'ns',
    columns: ['hot key', '1 M keys uniform', '1 M keys Zipf', 'denied, one key', 'every key new'],
  },
  ...TIMED.map((scenario) => ({
    head: `${scenario}, single decisions`,
    columns: [
      ['p50, us', scenario, 'p50'],
      ['p99, us', scenario, 'p99'],
      ['p99.9, us', scenario, 'p999'],
      ['longest collection, ms', scenario, 'pause'],
    ],
  })),
  { head: 'hot key', columns: [['ns', 'two and three limits']] },
  {
    head: 'hot key',
    columns: [
      ['ns', 'algorithms'],
      ['after all algorithms, ns', 'after all algorithms'],
    ],
  },
  { head: '1 M keys', columns: [['bytes a key', 'bytes a key, 1 M keys']] },
]

const range = (count, make) => Array.from({ length: count }, (_, i) => make(i))

async function sluice(name, denied, more) {
  const { createLimiter, MemoryStore, turnClock } = await import('@sluice/limiter')
  const method = name.includes('allow') ? 'allow' : 'check'
  const algorithm = ALGORITHMS.find((known) => name.includes(known)) ?? 'gcra'
  const flows = ['gcra', 'token-bucket', 'leaky-bucket'].includes(algorithm)
  const policyOf = (i) => {
    if (denied) return { algorithm, limit: 5, period: '1h' }
    if (algorithm === 'sliding-window-log') return { algorithm, limit: 1_000, period: '1m' }
    const { limit = 100_000_000, period = `${60 + i}m` } = more
    return {
      algorithm,
      limit,
      period,
      ...(flows && more.limit === undefined && { limit: 6, period: '1m', burst: 100_000_000 + i }),
    }
  }
  const limits = Number(/(\d) limits/.exec(name)?.[1] ?? 1)
  if (name.includes('all used')) {
    for (const used of ALGORITHMS) {
      const limiter = createLimiter({ policies: { p: { algorithm: used, limit: 1_000, period: '1m' } } })
      for (let i = 0; i < 50_000; i++) limiter[method](`k${i % 100}`)
    }
  }
  const limiter = createLimiter({
    policies: Object.fromEntries(range(limits, (i) => [`p${i}`, policyOf(i)])),
    ...(name.includes('once a turn') && { store: new MemoryStore({ clock: turnClock() }) }),
  })
  return { decide: method === 'allow' ? (key) => limiter.allow(key) : (key) => limiter.check(key) }
}

async function library(name, denied, { limit = MOST, windowMs = 3_600_000 }) {
  const max = denied ? 5 : limit
  const count = Number(/(\d) limits/.exec(name)?.[1] ?? 1)
  if (name.startsWith('express-rate-limit')) {
    const { MemoryStore } = await import('express-rate-limit')
    const stores = range(count, () => new MemoryStore())
    for (const store of stores) store.init({ windowMs })
    return {
      waits: true,
      decide:
        count === 1
          ? (key) => stores[0].increment(key)
          : (key) => Promise.all(stores.map((store) => store.increment(key))),
    }
  }
  if (name.startsWith('hono-rate-limiter')) {
    const { MemoryStore } = await import('hono-rate-limiter')
    const store = new MemoryStore()
    store.init({ windowMs })
    const { increment } = store
    return { decide: (key) => increment.call(store, key) }
  }
  if (name.startsWith('rate-limiter-flexible')) {
    const { RateLimiterMemory } = await import('rate-limiter-flexible')
    const limiters = range(
      count,
      (i) => new RateLimiterMemory({ points: max, duration: windowMs / 1_000, keyPrefix: `r${i}` }),
    )
    const one = (key) => limiters[0].consume(key).catch((refusal) => refusal)
    return {
      waits: true,
      decide: count === 1 ? one : (key) => Promise.all(limiters.map((limiter) => limiter.consume(key))),
    }
  }
  if (name === 'string alone') return { decide: (key) => key.charCodeAt(15) }
  const windows = new Map()
  return {
    decide(key) {
      const now = Date.now()
      let own = windows.get(key)
      if (own === undefined || own.until <= now) {
        own = { until: now + windowMs, count: 0 }
        windows.set(key, own)
      }
      return ++own.count <= max
    },
  }
}

/** The same table and law in C, reading a clock: keys made outside, so the row "string alone" is to be added. */
function inC(scenario) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    const program = join(folder, 'limit')
    execFileSync('cc', ['-O2', new URL('../limit.c', import.meta.url).pathname, '-o', program, '-lm'])
    return { ns: Number(execFileSync(program, [scenario === 'hot key' ? 'hot' : 'uniform'])) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function writeKey(buffer, at, id) {
  buffer.latin1Write('user:', at, 5)
  for (let i = 15, rest = id; i >= 5; i--, rest = Math.floor(rest / 10)) buffer[at + i] = 48 + (rest % 10)
}

/** How many different keys a scenario has, and the policy if it is not the usual one. */
function shapeOf(scenario) {
  if (scenario === 'every key new')
    return { keys: Number.POSITIVE_INFINITY, limit: 100, period: '1s', windowMs: 1_000 }
  if (scenario.startsWith('1 M keys')) return { keys: 1_000_000, zipf: scenario.endsWith('Zipf') }
  return { keys: 1 }
}

async function bytesOf({ decide, waits }) {
  const count = 1_000_000
  gc()
  const before = process.memoryUsage()
  for (let i = 0; i < count; i++) {
    const answer = decide(`user:${String(i).padStart(11, '0')}`)
    if (waits) await answer
  }
  gc()
  const after = process.memoryUsage()
  return (after.heapUsed + after.external - before.heapUsed - before.external) / count
}

export async function run(scenario, candidate) {
  if (candidate === 'C') return inC(scenario)
  const shape = shapeOf(scenario)
  const denied = scenario.startsWith('denied')
  const make = candidate.startsWith('sluice') ? sluice : library
  const own = await make(candidate, denied, shape)
  if (scenario.startsWith('bytes')) return { bytes: await bytesOf(own) }
  const { decide, waits } = own
  const buffer = Buffer.alloc(BATCH * WIDTH)
  const drain = waits
    ? async () => {
        for (let at = 0; at < buffer.length; at += WIDTH) await decide(buffer.latin1Slice(at, at + WIDTH))
      }
    : () => {
        for (let at = 0; at < buffer.length; at += WIDTH) decide(buffer.latin1Slice(at, at + WIDTH))
      }
  let next = 0
  const keyOf = () => {
    if (shape.keys === Number.POSITIVE_INFINITY) return next++
    if (shape.keys === 1) return 7
    if (next < shape.keys) return next++
    // By Zipf's law with exponent 1, nearly: each tenfold of ranks is asked as often.
    if (shape.zipf) return Math.floor(shape.keys ** Math.random()) - 1
    return Math.floor(Math.random() * shape.keys)
  }
  const timed = async (count) => {
    let spent = 0
    for (let done = 0; done < count; done += BATCH) {
      for (let j = 0; j < BATCH; j++) writeKey(buffer, j * WIDTH, keyOf())
      const before = ownCpu()
      await drain()
      spent += ownCpu() - before
      if (done % (BATCH * 8) === 0) await new Promise((resolve) => setImmediate(resolve)) // timers and collectors have their turn
    }
    return (spent * 1_000) / Math.ceil(count / BATCH) / BATCH
  }
  await timed(shape.keys === 1_000_000 ? 1_000_000 : DECISIONS)
  const runs = []
  for (let i = 0; i < RUNS; i++) runs.push(await timed(DECISIONS))
  return { ns: runs.sort((a, b) => a - b)[1], ...(TIMED.includes(scenario) && (await singles(own, keyOf))) }
}

/** Waits for single decisions, and the longest collection meanwhile. */
async function singles({ decide, waits }, keyOf) {
  let pause = 0
  const collections = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) pause = Math.max(pause, duration)
  })
  collections.observe({ entryTypes: ['gc'] })
  const took = new Float64Array(SINGLE)
  for (let i = 0; i < SINGLE; i++) {
    const key = `user:${String(keyOf()).padStart(11, '0')}`
    const began = performance.now()
    const answer = decide(key)
    if (waits) await answer
    took[i] = (performance.now() - began) * 1_000
    if (i % BATCH === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await new Promise((resolve) => setTimeout(resolve, 10)) // the observer hears of the last ones
  took.sort()
  const at = (share) => took[Math.floor(SINGLE * share)]
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), pause }
}
