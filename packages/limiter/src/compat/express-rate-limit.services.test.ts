import { served } from '@sluice/conformance'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { rateLimit as ourLimit } from '../adapters/express.ts'
import { createLimiter } from '../limiter.ts'
import { MemoryStore } from '../stores/memory.ts'
import { type RedisServer, startRedis } from '../stores/redis/server.test-support.ts'
import { RedisStore } from '../stores/redis.ts'
import type { Store } from '../stores/store.ts'
import { FakeClock } from '../testing.ts'
import { draft8, expressRateLimitStore } from './express-rate-limit.ts'

let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  client = new Redis({ port: server.port, autoResendUnfulfilledCommands: false })
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

async function against(
  limiter: express.RequestHandler,
  body: (get: (path?: string) => Promise<Response>) => Promise<unknown>,
) {
  const app = express()
  app.use(limiter)
  app.get('/', (_, response) => void response.send('ok'))
  const server = await served(app)
  try {
    await body((path = '/') => fetch(`http://127.0.0.1:${server.port}${path}`))
  } finally {
    await server.close()
  }
}

describe('in express-rate-limit', () => {
  const clock = new FakeClock()
  const store = () => ({ name: 'test', store: new MemoryStore({ clock }) })

  it('counts hits in windows that open with the first', async () => {
    const limiter = rateLimit({
      windowMs: 60_000,
      limit: 2,
      standardHeaders: 'draft-7',
      store: expressRateLimitStore(store()),
    })
    await against(limiter, async (get) => {
      clock.advance(1_234)
      const first = await get()
      expect([first.status, first.headers.get('ratelimit')]).toEqual([200, 'limit=2, remaining=1, reset=60'])
      expect([(await get()).status, (await get()).status]).toEqual([200, 429])
      clock.advance(60_000)
      expect((await get()).status).toBe(200)
    })
  })

  it('T11: shows requests that come at once their own figures', async () => {
    const store = expressRateLimitStore()
    store.init({ windowMs: 60_000 })
    const [first, second] = [await store.increment('k'), await store.increment('k')]
    expect([first.totalHits, second.totalHits]).toEqual([1, 2])
  })

  it('T13, T37: takes hits back while there are any, and knows nothing of keys without', async () => {
    const counters = expressRateLimitStore(store())
    const limiter = rateLimit({ windowMs: 60_000, limit: 2, store: counters })
    await counters.decrement('k')
    expect(await limiter.getKey('k')).toBeUndefined()
    await counters.increment('k')
    await counters.increment('k')
    await counters.decrement('k')
    expect(await limiter.getKey('k')).toMatchObject({ totalHits: 1 })
    clock.advance(60_000)
    await counters.decrement('k')
    expect(await limiter.getKey('k')).toBeUndefined()
    await counters.increment('k')
    limiter.resetKey('k')
    expect(await limiter.getKey('k')).toBeUndefined()
  })

  it('keeps the window of a key whose hits were all taken back', async () => {
    for (const own of [store(), { name: 'test', store: new RedisStore({ client }) }]) {
      const counters = expressRateLimitStore(own)
      counters.init({ windowMs: 60_000 })
      const first = await counters.increment('k')
      await counters.decrement('k')
      const emptied = await counters.get('k')
      expect(emptied?.totalHits).toBe(0)
      expect(Math.abs(+emptied!.resetTime - +first.resetTime)).toBeLessThan(30_000)
      await counters.decrement('k')
      expect(await counters.get('k')).toMatchObject({ totalHits: 0 })
      for (let i = 0; i < 5; i++) await counters.increment('k')
      await Promise.all(Array.from({ length: 3 }, () => counters.decrement('k')))
      expect(await counters.get('k')).toMatchObject({ totalHits: 2 })
      for (let i = 0; i < 5; i++) await counters.decrement('k')
      expect(await counters.increment('k')).toMatchObject({ totalHits: 1 })
      await counters.resetKey('k')
      expect(await counters.get('k')).toBeUndefined()
    }
  })

  it('ends the window of a key whose hits were all taken back when it would have ended', async () => {
    const counters = expressRateLimitStore(store())
    counters.init({ windowMs: 60_000 })
    await counters.increment('k')
    await counters.decrement('k')
    clock.advance(59_000)
    await counters.increment('k')
    clock.advance(1_000)
    expect(await counters.get('k')).toBeUndefined()
  })

  it('counts before it is given to a limiter, in windows of the library’s own default', async () => {
    const counters = expressRateLimitStore(store())
    expect(await counters.increment('k')).toMatchObject({ totalHits: 1 })
    expect(await counters.increment('k')).toMatchObject({ totalHits: 2 })
    clock.advance(60_000)
    expect(await counters.get('k')).toBeUndefined()
  })

  it('counts in no window but the one it was given, though that cannot be kept', () => {
    const counters = expressRateLimitStore(store())
    expect(() => counters.init({ windowMs: Number.NaN })).toThrow('not a duration')
    expect(() => counters.increment('k')).toThrow('not a duration')
  })

  it('leaves out what the library is told to skip', async () => {
    const limiter = rateLimit({
      windowMs: 60_000,
      limit: 1,
      skipFailedRequests: true,
      store: expressRateLimitStore(store()),
    })
    await against(limiter, async (get) => {
      expect([(await get('/none')).status, (await get('/none')).status, (await get()).status]).toEqual([
        404, 404, 200,
      ])
      expect((await get('/none')).status).toBe(429)
    })
  })

  it('lives beside other counters, and wants a name for that', async () => {
    const shared = new MemoryStore({ clock })
    const limiter = createLimiter({
      name: 'other',
      store: shared,
      policies: { hits: { algorithm: 'token-bucket', refill: 'interval', limit: 1, period: '1m' } },
    })
    const counters = expressRateLimitStore({ name: 'erl', store: shared })
    counters.init({ windowMs: 60_000 })
    await counters.increment('k')
    expect(limiter.check('k').allowed).toBe(true)
    expect(() => expressRateLimitStore({ store: shared })).toThrow('need a name')
    expect([expressRateLimitStore().localKeys, counters.localKeys]).toEqual([true, false])
  })

  it('opens the next window with the first hit after the last', async () => {
    const counters = expressRateLimitStore(store())
    counters.init({ windowMs: 60_000 })
    const endsIn = async () => +(await counters.increment('k')).resetTime - Date.now()
    await endsIn()
    clock.advance(100_000)
    expect(await endsIn()).toBeGreaterThan(45_000)
    clock.advance(30_000)
    expect(await endsIn()).toBeLessThan(45_000)
    expect(await counters.get('k')).toMatchObject({ totalHits: 2 })
  })

  it('counts numbers as their text, and nobody who has no key', async () => {
    const counters = expressRateLimitStore()
    counters.init({ windowMs: 60_000 })
    await counters.increment(42 as never)
    expect(await counters.increment('42')).toMatchObject({ totalHits: 2 })
    for (const none of [undefined, null, Number.NaN]) {
      expect(() => counters.increment(none as never)).toThrow('key must be a string')
    }
  })

  it('forgets everybody in a place of its own, and in no other', async () => {
    const counters = expressRateLimitStore()
    counters.init({ windowMs: 60_000 })
    await counters.increment('k')
    counters.resetAll()
    expect(await counters.get('k')).toBeUndefined()
    expect(() => expressRateLimitStore(store()).resetAll()).toThrow('a store of their own')
  })

  it('answers by promise where the store does, failures included', async () => {
    const failing: Store<true> = Object.assign(new MemoryStore(), {
      async: true,
      decide: () => Promise.reject(new Error('gone')),
    }) as never
    const limiter = rateLimit({
      windowMs: 60_000,
      limit: 1,
      passOnStoreError: true,
      logger: { error() {}, warn() {} },
      store: expressRateLimitStore({ name: 'n', store: failing }),
    })
    await against(limiter, async (get) => expect((await get()).status).toBe(200))
  })

  it('has the same figures, names and partition keys in headers of draft 8, if it is told to', async () => {
    vi.useFakeTimers({ toFake: ['Date'] }) // neither’s time goes on
    onTestFinished(() => void vi.useRealTimers())
    for (const windowMs of [30_000, 60_000, 90_000, 3_600_000, 7_200_000, 86_400_000, 604_800_000]) {
      const theirs = { windowMs, limit: 3, keyGenerator: () => 'ada', legacyHeaders: false }
      const told = async (limiter: express.RequestHandler): Promise<unknown[]> => {
        const answers: unknown[] = []
        await against(limiter, async (get) => {
          for (let i = 0; i < 4; i++) {
            const { headers } = await get()
            // The draft wants `pk` in both fields, so ours is there too; theirs writes blanks.
            const limits = headers.get('RateLimit')!.replace(/;pk=[^;]*/, '')
            answers.push([headers.get('RateLimit-Policy')!, limits].map((text) => text.replaceAll(' ', '')))
          }
        })
        return answers
      }
      expect(await told(ourLimit({ ...draft8(theirs), ...store() }))).toEqual(
        await told(rateLimit({ ...theirs, standardHeaders: 'draft-8' })),
      )
    }
  })

  it('names policies of draft 8 as it is told, and not where the limit is a function', () => {
    expect(draft8({ windowMs: 60_000, limit: 5, identifier: 'api' }).identifier).toBe('api')
    expect(draft8({ windowMs: 60_000, limit: () => 5 })).not.toHaveProperty('identifier')
  })
})
