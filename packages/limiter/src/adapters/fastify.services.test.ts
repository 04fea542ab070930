import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { adapterSuite } from '@sluice/conformance'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { type FastifyRateLimitOptions, rateLimit } from './fastify.ts'

adapterSuite({ describe, it }, 'Fastify', {
  header: ([request], name) => (request as FastifyRequest).headers[name] as string | undefined,
  info: ([request]) => (request as FastifyRequest).rateLimit,
  refusing: (look) => ({
    errorResponseBuilder: (request: FastifyRequest) => {
      look([request])
      return Object.assign(new Error('refused'), { statusCode: 429 })
    },
  }),
  async listen(options, application) {
    const app = fastify({ exposeHeadRoutes: false })
    for (const each of options) await app.register(rateLimit, each)
    app.all('/*', async (request, reply) => {
      const { status = 200, body = '' } = await application({ path: request.url, info: request.rateLimit })
      return reply.code(status).send(body)
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    return {
      port: (app.server.address() as AddressInfo).port,
      close: () => {
        app.server.closeAllConnections()
        return app.close()
      },
    }
  },
})

describe('Fastify', () => {
  const store = () => ({ name: 'test', store: new MemoryStore({ clock: new FakeClock() }) })
  async function app(
    options: FastifyRateLimitOptions,
    routes: (app: FastifyInstance) => unknown,
  ): Promise<FastifyInstance> {
    const app = fastify()
    await app.register(rateLimit, { period: '1 minute', ...options })
    await routes(app)
    return app
  }
  async function statuses(
    app: FastifyInstance,
    ...urls: (string | { method: 'HEAD' | 'POST'; url: string })[]
  ): Promise<number[]> {
    const statuses: number[] = []
    for (const url of urls) statuses.push((await app.inject(url)).statusCode)
    return statuses
  }
  const ok = async () => 'ok'

  it('limits all routes by one limiter, and those that ask by their own', async () => {
    const limited = await app({ max: 2, ...store() }, (app) => {
      app.get('/a', ok)
      app.get('/b', ok)
      app.get('/own', { config: { rateLimit: { max: 1 } } }, ok)
      app.get('/other', { config: { rateLimit: { max: 1 } } }, ok)
      app.get('/free', { config: { rateLimit: false } }, ok)
    })
    expect(await statuses(limited, '/a', '/b', '/a', '/own', '/own', '/other', '/free')).toEqual([
      200, 200, 429, 200, 429, 200, 200,
    ])
  })

  it('limits only the routes that ask, where that is said', async () => {
    const limited = await app({ global: false }, (app) => {
      app.get('/a', ok)
      app.get('/own', { config: { rateLimit: { max: 1 } } }, ok)
    })
    expect(await statuses(limited, '/a', '/a', '/own', '/own')).toEqual([200, 200, 200, 429])
  })

  it('limits the scope it is registered in, and no other', async () => {
    const outer = fastify()
    await outer.register(async (inner) => {
      await inner.register(rateLimit, { max: 1, timeWindow: 60_000 })
      inner.get('/inner', ok)
    })
    outer.get('/outer', ok)
    expect(await statuses(outer, '/inner', '/inner', '/outer', '/outer')).toEqual([200, 429, 200, 200])
  })

  it('counts the HEAD route that comes with a GET route with it', async () => {
    const limited = await app({ global: false }, (app) =>
      app.get('/own', { config: { rateLimit: { max: 2 } } }, ok),
    )
    expect(
      await statuses(limited, '/own', { method: 'HEAD', url: '/own' }, '/own', {
        method: 'HEAD',
        url: '/own',
      }),
    ).toEqual([200, 200, 429, 429])
  })

  it('T47: limits the routes of a group together', async () => {
    const otp = { max: 2, groupId: 'OTP' }
    const limited = await app({ global: false, ...store() }, (app) => {
      app.get('/send', { config: { rateLimit: otp } }, ok)
      app.get('/check', { config: { rateLimit: { groupId: 'OTP' } } }, ok)
    })
    expect(await statuses(limited, '/send', '/check', '/send', '/check')).toEqual([200, 200, 429, 429])
  })

  it('refuses two limits for one group', async () => {
    const twice = app({ global: false }, (app) => {
      app.get('/a', { config: { rateLimit: { max: 2, groupId: 'g' } } }, ok)
      app.get('/b', { config: { rateLimit: { max: 3, groupId: 'g' } } }, ok)
    })
    await expect(twice).rejects.toThrow('the group "g" has another max already')
  })

  it('T48: a second limiter of a route counts too', async () => {
    const limited = await app({ max: 100 }, (app) =>
      app.get('/a', { preHandler: app.rateLimit({ max: 1 }) }, ok),
    )
    expect(await statuses(limited, '/a', '/a')).toEqual([200, 429])
  })

  it('limits what is not found, too', async () => {
    const limited = await app({ max: 1 }, (app) =>
      app.setNotFoundHandler({ preHandler: app.rateLimit() }, (_, reply) => reply.code(404).send()),
    )
    expect(await statuses(limited, '/x', '/y')).toEqual([404, 429])
  })

  it('judges at the hook it is told', async () => {
    const limited = await app({ global: false }, (app) => {
      const keyed = {
        max: 1,
        hook: 'preHandler' as const,
        key: (request: FastifyRequest) => (request.body as { user: string }).user,
      }
      app.post('/login', { config: { rateLimit: keyed } }, ok)
    })
    const login = async (user: string) =>
      (await limited.inject({ method: 'POST', url: '/login', payload: { user } })).statusCode
    expect([await login('ada'), await login('ada'), await login('bob')]).toEqual([200, 429, 200])
  })

  it('throws what the application builds of a refusal', async () => {
    const limited = await app(
      {
        max: 0,
        errorResponseBuilder: (_, { max, statusCode }) =>
          Object.assign(new Error(`no more than ${max}`), { statusCode }),
      },
      (app) => app.get('/', ok),
    )
    const reply = await limited.inject('/')
    expect(reply.statusCode).toBe(429)
    expect(reply.json()).toMatchObject({ statusCode: 429, message: 'no more than 0' })
  })

  it('gives handlers a limiter to call', async () => {
    const seen: unknown[] = []
    await app({ max: 9, ...store() }, async (app) => {
      const check = app.createRateLimit({ max: 1, allowList: ['10.0.0.0/8'] })
      app.get('/', async (request) => {
        for (const increment of [false, true, true, false]) {
          const { isAllowed, isExceeded, max, remaining } = await check(request, { increment })
          seen.push({ isAllowed, isExceeded, max, remaining })
        }
      })
      await app.inject('/')
      await app.inject({ url: '/', remoteAddress: '10.1.2.3' })
    })
    const figures = { isAllowed: false, max: 1 }
    const exempt = { isAllowed: true, isExceeded: false, max: Infinity, remaining: Infinity }
    expect(seen).toEqual([
      { ...figures, isExceeded: false, remaining: 1 },
      { ...figures, isExceeded: false, remaining: 0 },
      { ...figures, isExceeded: true, remaining: 0 },
      { ...figures, isExceeded: true, remaining: 0 },
      ...Array(4).fill(exempt),
    ])
  })

  it('refuses to be registered with options that mean nothing', async () => {
    await expect(app({ max: 1, timeWindows: 3 } as never, () => undefined)).rejects.toThrow(
      'did you mean timeWindow?',
    )
    await expect(app({}, () => undefined)).rejects.toThrow('give one of limit')
  })

  it('knows a caller who has left before a limiter is asked', async () => {
    let key: string | undefined
    const limited = await app({ max: 2, global: false }, (app) => {
      const limit = app.createRateLimit({})
      app.get('/', async (request) => {
        await once(request.raw.socket, 'close')
        key = (await limit(request)).key
      })
    })
    await limited.listen({ host: '127.0.0.1', port: 0 })
    const caller = connect((limited.server.address() as AddressInfo).port, '127.0.0.1')
    caller.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n', () => caller.destroy())
    await vi.waitFor(() => expect(key).toBe('127.0.0.1'), 60_000)
    await limited.close()
  })

  it('listens to a server once, however often it is registered', async () => {
    const limited = await app({ max: 2 }, (app) => app.register(rateLimit, { max: 1, period: 1 }))
    expect(limited.server.listenerCount('secureConnection')).toBe(1)
  })
})
