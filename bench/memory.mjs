// A decision in process: nanoseconds, and bytes for each key. `npm run memory`
import { createLimiter } from '@sluice/limiter'
import { MemoryStore as ErlStore } from 'express-rate-limit'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { print, rounds } from './rounds.mjs'

const DECISIONS = 400_000
const LIMIT = 1_000_000_000

function limiters() {
  const sluice = (algorithm) => {
    const limiter = createLimiter({ policies: { p: { algorithm, limit: 1_000_000, period: '1m' } } })
    return (key) => limiter.check(key)
  }
  const flexible = new RateLimiterMemory({ points: LIMIT, duration: 60 })
  const erl = new ErlStore()
  erl.init({ windowMs: 60_000 })
  return {
    'sluice gcra': sluice('gcra'),
    'sluice fixed-window': sluice('fixed-window'),
    'sluice sliding-window-counter': sluice('sliding-window-counter'),
    'rate-limiter-flexible': (key) => flexible.consume(key),
    'express-rate-limit MemoryStore': (key) => erl.increment(key),
  }
}

for (const keys of [1, 100_000]) {
  const bytes = Buffer.from(
    Array.from({ length: keys }, (_, i) => String(i).padStart(16, 'user:00000000000')).join(''),
  )
  const candidates = Object.entries(limiters()).map(([name, decide]) => [
    name,
    async () => {
      const began = performance.now()
      for (let i = 0; i < DECISIONS; i++) {
        const at = ((i * 7_919) % keys) * 16
        const answer = decide(bytes.latin1Slice(at, at + 16)) // a fresh string each time, as a server has
        if (answer instanceof Promise) await answer
      }
      return ((performance.now() - began) * 1e6) / DECISIONS
    },
  ])
  print(keys === 1 ? 'one key' : `${keys} keys`, 'ns', await rounds(Object.fromEntries(candidates)))
}

const KEYS = 500_000
const held = async (decide) => {
  gc()
  const before = process.memoryUsage()
  for (let i = 0; i < KEYS; i++) await decide(`user:${String(i).padStart(11, '0')}`)
  gc()
  const after = process.memoryUsage()
  return (after.heapUsed + after.external - before.heapUsed - before.external) / KEYS
}
const rows = []
for (const [name, decide] of Object.entries(limiters())) rows.push({ name, median: await held(decide) })
print(
  `${KEYS} keys held`,
  'bytes a key',
  rows.map((row) => ({ ...row, times: row.median / rows[0].median })),
)
process.exit()
