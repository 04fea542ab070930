import { Hono } from 'hono'
import { describe, expect, it, vi } from 'vitest'
import { rateLimit as fullFetch } from '../adapters/fetch.ts'
import { rateLimit as fullHono } from '../adapters/hono.ts'
import { StoreError } from '../core/errors.ts'
import { concurrency, createLimiter, draft06, gcra, MapStore, xRateLimit } from '../edge.ts'
import type { Store } from '../stores/store.ts'
import { FakeClock } from '../testing.ts'
import { rateLimit as fetchLimit } from './fetch.ts'
import { rateLimit } from './hono.ts'

const WALL = (): number => 1_767_225_600_000

function limiterOf(limit = 2) {
  const store = new MapStore({ clock: new FakeClock() })
  return createLimiter({ store, policies: { api: { algorithm: gcra, limit, period: '1m' } } })
}

const userOf = (request: Request): string | undefined => request.headers.get('x-user') ?? undefined

function appWith(options: Partial<Parameters<typeof rateLimit>[0]> = {}, limit = 2): Hono {
  const app = new Hono()
  app.use(
    rateLimit({ limiter: limiterOf(limit), key: (c) => c.req.header('x-user'), wallClock: WALL, ...options }),
  )
  app.get('/', (c) => c.json({ remaining: c.get('rateLimit').remaining }))
  return app
}

const ada = { headers: { 'x-user': 'ada' } }

async function shown(response: Response): Promise<unknown> {
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  }
}

describe('the small middleware for Hono', () => {
  it('answers as the large one does with the same limiter', async () => {
    const full = new Hono()
    full.use(fullHono({ limiter: limiterOf(), key: (c) => c.req.header('x-user'), wallClock: WALL }))
    full.get('/', (c) => c.json({ remaining: c.get('rateLimit').remaining }))
    const small = appWith()
    for (let i = 0; i < 4; i++) {
      const expected = await shown(await full.request('/', ada))
      expect(await shown(await small.request('/', ada))).toEqual(expected)
      expect(expected).toMatchObject({ status: i < 2 ? 200 : 429 })
    }
  })

  it('speaks the dialects that are imported, and none for an empty list', async () => {
    const headersOf = async (dialect: NonNullable<Parameters<typeof rateLimit>[0]['dialect']>) =>
      [...(await appWith({ dialect }).request('/', ada)).headers.keys()].filter((name) => /rate/.test(name))
    expect(await headersOf(xRateLimit)).toEqual([
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
    ])
    expect(await headersOf([draft06, xRateLimit])).toHaveLength(7)
    expect(await headersOf([])).toEqual([])
    expect(() => appWith({ dialect: 'draft-06' as never })).toThrow(
      'dialect: give the dialect "draft-06" as an object of @sluice/limiter/edge',
    )
    expect(() => appWith({ dialect: { name: 'own' } as never })).toThrow(
      'the dialect own needs a function headers',
    )
  })

  it('counts as it is asked to: a cost, requests that are skipped, own answers', async () => {
    const app = appWith({
      cost: (c) => Number(c.req.query('cost') ?? 1),
      skip: (c) => c.req.query('free') !== undefined,
      handler: (c) => c.text('later', 503),
    })
    expect(await (await app.request('/?cost=2', ada)).json()).toEqual({ remaining: 0 })
    expect((await app.request('/?free', ada)).status).toBe(200)
    expect(await shown(await app.request('/', ada))).toMatchObject({ status: 503, text: 'later' })
    expect(
      await (await appWith({ message: { wait: true }, statusCode: 420 }, 0).request('/', ada)).json(),
    ).toEqual({
      wait: true,
    })
  })

  it('gives back what failed requests were charged, and releases slots', async () => {
    const limiter = createLimiter({
      policies: { jobs: { algorithm: concurrency, limit: 1, period: '1m' } },
    })
    const app = appWith({ limiter })
    for (let i = 0; i < 3; i++) {
      const response = await app.request('/', ada)
      expect(response.status).toBe(200)
      await response.text()
    }
    const failing = appWith({ skipFailedRequests: true }, 1)
    failing.get('/broken', (c) => c.text('no', 500))
    for (let i = 0; i < 3; i++)
      expect(await shown(await failing.request('/broken', ada))).toMatchObject({ status: 500 })
  })

  it('a request without a key is an error, unless the options say what becomes of it', async () => {
    const statusOf = async (options: Parameters<typeof appWith>[0], times = 1): Promise<number> => {
      const app = appWith(options, 1)
      const seen: unknown[] = []
      app.onError((error, c) => {
        seen.push(error)
        return c.text(error.message, 500)
      })
      let status = 0
      for (let i = 0; i < times; i++) status = (await app.request('/')).status
      return status
    }
    expect(await statusOf({})).toBe(500)
    expect(await statusOf({ onMissingKey: 'skip' }, 3)).toBe(200)
    expect(await statusOf({ onMissingKey: 'deny' })).toBe(429)
    expect(await statusOf({ onMissingKey: 'share' }, 2)).toBe(429)
  })

  it('admits while a shared store fails, or answers 503', async () => {
    const broken: Store<true> = {
      async: true,
      decide: () => Promise.reject(new StoreError('connection lost')),
      settle: () => Promise.resolve(false),
      reset: () => Promise.resolve(),
      block: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }
    const limiter = createLimiter({
      store: broken,
      policies: { api: { algorithm: gcra, limit: 1, period: '1m' } },
    })
    const logger = { warn: vi.fn(), error: vi.fn() }
    expect((await appWith({ limiter, logger }).request('/', ada)).status).toBe(200)
    expect((await appWith({ limiter, logger, onStoreError: 'closed' }).request('/', ada)).status).toBe(503)
    expect(logger.error).toHaveBeenCalledTimes(2)
  })

  it('says of an option that only the large adapters have where it is', () => {
    expect(() => appWith({ limit: 3 } as never)).toThrow(
      'only the adapters of @sluice/limiter/adapters have it',
    )
    expect(() => rateLimit({} as never)).toThrow('limiter must be given: a limiter')
    expect(() => rateLimit({ limiter: limiterOf() } as never)).toThrow(
      'key must be given: a function of the request',
    )
    expect(() => appWith({ statuscode: 3 } as never)).toThrow('did you mean statusCode?')
  })
})

describe('the small fetch limiter', () => {
  it('answers as the large one does with the same limiter', async () => {
    const handler = (): Response => Response.json({ ok: true })
    const options = { key: userOf, wallClock: WALL }
    const full = fullFetch({ limiter: limiterOf(), ...options }).wrap(handler)
    const small = fetchLimit({ limiter: limiterOf(), ...options }).wrap(handler)
    const request = (): Request => new Request('https://example.com/', ada)
    for (let i = 0; i < 4; i++) {
      expect(await shown(await small(request()))).toEqual(await shown(await full(request())))
    }
  })

  it('takes a key for each field that policies name', async () => {
    const limiter = createLimiter({
      policies: {
        user: { algorithm: gcra, limit: 1, period: '1m', key: 'user' },
        tenant: { algorithm: gcra, limit: 2, period: '1m', key: 'tenant' },
      },
    })
    const limit = fetchLimit({
      limiter,
      key: (request: Request) => ({ user: userOf(request), tenant: 't1' }),
      cost: { user: 1, tenant: 1 },
    })
    const statusFor = async (user: string): Promise<string> => {
      const { response, info } = await limit(
        new Request('https://example.com/', { headers: { 'x-user': user } }),
      )
      return response === undefined ? 'passed' : info.policy
    }
    expect([await statusFor('a'), await statusFor('a'), await statusFor('b'), await statusFor('c')]).toEqual([
      'passed',
      'user',
      'passed',
      'tenant',
    ])
  })
})
