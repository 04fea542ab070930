// What decides in process: ours and the rivals. `decideWith(candidate, shape)` gives `decide(key)`, and whether it answers
// by a promise. No library is asked for more than it must do: each has its cheapest call.
import { createRequire } from 'node:module'

export const LIBRARIES = [
  'express-rate-limit',
  'hono-rate-limiter',
  '@fastify/rate-limit',
  'limiter in a Map',
  'rate-limiter-flexible',
  'a JS Map',
]
export const ALGORITHMS = [
  'gcra',
  'fixed-window',
  'sliding-window-counter',
  'token-bucket',
  'leaky-bucket',
  'sliding-window-log',
]
const MOST = 1_000_000_000
const FIVE = { limit: 5, period: '1h', windowMs: 3_600_000 }

const range = (count, make) => Array.from({ length: count }, (_, i) => make(i))

/** @param shape `denied`; `limit`, `period` and `windowMs`: the policy, if it is not one that admits all */
export function decideWith(candidate, shape = {}) {
  const count = Number(/(\d) limits/.exec(candidate)?.[1] ?? 1)
  const limits = shape.denied ? { ...shape, ...FIVE } : shape
  if (candidate.startsWith('sluice')) return sluice(candidate, count, limits)
  const [, make] = Object.entries(RIVALS).find(([name]) => candidate.startsWith(name))
  return make({
    count,
    max: MOST,
    windowMs: 3_600_000,
    ...limits,
    ...(limits.limit && { max: limits.limit }),
  })
}

async function sluice(candidate, count, { limit, period }) {
  const { createLimiter, MemoryStore, turnClock } = await import('@sluice/limiter')
  const algorithm = ALGORITHMS.find((known) => candidate.includes(known)) ?? 'gcra'
  const policyOf = (i) => {
    if (limit !== undefined) return { algorithm, limit, period }
    // Entries come and go, and none is refused.
    if (algorithm === 'sliding-window-log') return { algorithm, limit: 100_000, period: '10ms' }
    if (algorithm.endsWith('window') || algorithm.endsWith('counter'))
      return { algorithm, limit: 100_000_000, period: `${60 + i}m` }
    // A key means something for 100 seconds: longer than a run, as with the others.
    return { algorithm, limit: 6, period: '10m', burst: 100_000_000 + i }
  }
  const method = candidate.includes('allow') ? 'allow' : 'check'
  if (candidate.includes('all used')) {
    for (const used of ALGORITHMS) {
      const limiter = createLimiter({ policies: { p: { algorithm: used, limit: 1_000, period: '1m' } } })
      for (let i = 0; i < 50_000; i++) limiter[method](`k${i % 100}`)
    }
  }
  const limiter = createLimiter({
    policies: Object.fromEntries(range(count, (i) => [`p${i}`, policyOf(i)])),
    ...(candidate.includes('once a turn') && { store: new MemoryStore({ clock: turnClock() }) }),
  })
  return { decide: method === 'allow' ? (key) => limiter.allow(key) : (key) => limiter.check(key) }
}

const RIVALS = {
  async 'express-rate-limit'({ count, windowMs }) {
    const { MemoryStore } = await import('express-rate-limit')
    const stores = range(count, () => new MemoryStore())
    for (const store of stores) store.init({ windowMs })
    return { waits: true, decide: inTurn(stores.map((store) => (key) => store.increment(key))) }
  },
  async 'hono-rate-limiter'({ windowMs }) {
    const { MemoryStore } = await import('hono-rate-limiter')
    const store = new MemoryStore()
    store.init({ windowMs })
    return { decide: (key) => store.increment(key) }
  },
  '@fastify/rate-limit'({ windowMs, max }) {
    const LocalStore = createRequire(import.meta.url)('@fastify/rate-limit/store/LocalStore.js')
    const store = new LocalStore(false, false, 20_000_000)
    let answer
    const keep = (_error, counted) => {
      answer = counted
    }
    return {
      decide(key) {
        store.incr(key, keep, windowMs, max)
        return answer
      },
    }
  },
  async 'limiter in a Map'({ windowMs, max }) {
    const { RateLimiter } = await import('limiter')
    const limiters = new Map()
    return {
      decide(key) {
        let own = limiters.get(key)
        if (own === undefined) {
          own = new RateLimiter({ tokensPerInterval: max, interval: windowMs })
          limiters.set(key, own)
        }
        return own.tryRemoveTokens(1)
      },
    }
  },
  async 'rate-limiter-flexible'({ count, windowMs, max }) {
    const { RateLimiterMemory } = await import('rate-limiter-flexible')
    const limiters = range(
      count,
      (i) => new RateLimiterMemory({ points: max, duration: windowMs / 1_000, keyPrefix: `r${i}` }),
    )
    return { waits: true, decide: inTurn(limiters.map((limiter) => (key) => limiter.consume(key))) }
  },
  /** The smallest that anybody would write. */
  'a JS Map'({ windowMs, max }) {
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
  },
  'string alone': () => ({ decide: (key) => key.charCodeAt(15) }),
}

/** Several of them one after the other, which costs less than `Promise.all`. */
function inTurn(decisions) {
  if (decisions.length === 1) return decisions[0]
  return async (key) => {
    for (const decide of decisions) await decide(key)
  }
}
