// A store in this process that grows: bytes a key at so many keys, and the longest that growing holds up a decision.
// CPU time of all threads, read for each slice of decisions: what else runs on the machine is not in it.
import { ownCpu } from '../cpu.mjs'
import { decideWith } from '../deciders.mjs'
import { keyOf } from '../keys.mjs'

const SLICE = 500
/** New keys of another store, which compile what grows. */
const WARM_UP = 200_000
const MILLION = 1_000_000
const LIMITS = {
  gcra: { limit: 6, period: '10m', burst: 1_000_000 },
  'fixed-window': { limit: 6, period: '24h' },
  'sliding-window-counter': { limit: 6, period: '24h' },
  'sliding-window-log': { limit: 6, period: '24h' },
  concurrency: { limit: 6, period: '24h' },
}

const OURS = Object.keys(LIMITS).map((name) => `sluice allow, ${name}`)

export const scenarios = {
  '1 M keys': { unit: 'bytes', candidates: [...OURS, 'a JS Map'] },
  '10 M keys': { unit: 'bytes', candidates: [...OURS.slice(0, 2), 'a JS Map'] },
}

export const tables = [
  { head: 'bytes a key', columns: Object.keys(scenarios) },
  {
    head: 'slowest 500 decisions, ms of CPU',
    columns: Object.keys(scenarios).flatMap((name) => [
      [`${name}: 1 in 1,000`, name, 'ms of 500, p99.9'],
      [`${name}: worst`, name, 'ms of 500, worst'],
    ]),
  },
]

async function deciderOf(candidate) {
  if (candidate === 'a JS Map') return (await decideWith(candidate)).decide
  const { createLimiter, MemoryStore } = await import('@sluice/limiter')
  const algorithm = candidate.slice('sluice allow, '.length)
  const store = new MemoryStore({ maxKeys: 20 * MILLION, maxBytes: '4GB' })
  const limiter = createLimiter({ store, policies: { p: { algorithm, ...LIMITS[algorithm] } } })
  return (key) => limiter.allow(key)
}

export async function run(scenario, candidate) {
  const other = await deciderOf(candidate)
  for (let i = 0; i < WARM_UP; i++) other(keyOf(i))
  const decide = await deciderOf(candidate)
  const keys = Number.parseInt(scenario, 10) * MILLION
  const times = new Float64Array(keys / SLICE)
  gc()
  gc()
  const before = process.memoryUsage()
  for (let slice = 0; slice < times.length; slice++) {
    const from = ownCpu()
    for (let i = slice * SLICE; i < (slice + 1) * SLICE; i++) decide(keyOf(i))
    times[slice] = (ownCpu() - from) / 1_000
    await new Promise((resolve) => setImmediate(resolve)) // timers and collectors have their turn
  }
  gc()
  gc() // what the first one freed may still be counted
  const after = process.memoryUsage()
  for (const used of [decide, other]) used(keyOf(0)) // so that none of it was garbage
  times.sort()
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))]
  return {
    bytes: (after.heapUsed + after.external - before.heapUsed - before.external) / keys,
    // A decision takes no longer than its slice.
    'ms of 500, p50': at(0.5),
    'ms of 500, p99.9': at(0.999),
    'ms of 500, worst': at(1),
  }
}
