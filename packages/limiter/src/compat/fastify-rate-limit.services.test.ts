import fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { describe, expect, it } from 'vitest'
import { StoreError } from '../core/errors.ts'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { fastifyRateLimitStore } from './fastify-rate-limit.ts'

// Without its types, which give Fastify's own interfaces other members than the adapter here does.
const { default: rateLimit }: { default: FastifyPluginAsync<Record<string, unknown>> } = await import(
  '@fastify/rate-limit' as string
)

describe('in @fastify/rate-limit', () => {
  const clock = new FakeClock()
  const store = () => fastifyRateLimitStore({ name: 'test', store: new MemoryStore({ clock }) })
  async function app(options: object, ...routes: [url: string, limit?: object][]): Promise<FastifyInstance> {
    const app = fastify()
    await app.register(rateLimit, { timeWindow: 60_000, store: store(), ...options })
    for (const [url, rateLimit] of routes)
      app.get(url, { config: { ...(rateLimit && { rateLimit }) } }, async () => 'ok')
    return app
  }
  async function statuses(app: FastifyInstance, ...urls: string[]): Promise<number[]> {
    const statuses: number[] = []
    for (const url of urls) statuses.push((await app.inject(url)).statusCode)
    return statuses
  }

  it('counts in windows that open with the first hit, each route that asks apart', async () => {
    const limited = await app({ max: 2 }, ['/a'], ['/b'], ['/own', { max: 1 }])
    expect(await statuses(limited, '/a', '/b', '/a', '/own', '/own')).toEqual([200, 200, 429, 200, 429])
    const { headers } = await limited.inject('/a')
    expect([headers['x-ratelimit-remaining'], headers['x-ratelimit-reset'], headers['retry-after']]).toEqual(
      [0, 60, 60].map(String),
    )
    clock.advance(60_000)
    expect(await statuses(limited, '/a')).toEqual([200])
  })

  it('counts numbers as keys', async () => {
    const limited = await app({ max: 1, keyGenerator: () => 42 }, ['/'])
    expect(await statuses(limited, '/', '/')).toEqual([200, 429])
  })

  it('T47: limits the routes of a group together', async () => {
    const otp = { max: 2, groupId: 'OTP' }
    const limited = await app({ global: false }, ['/send', otp], ['/check', otp])
    expect(await statuses(limited, '/send', '/check', '/send', '/check')).toEqual([200, 200, 429, 429])
  })

  it('T49: forgets nobody who is over the limit, however many others come', async () => {
    const limited = await app(
      { max: 1, keyGenerator: (request: { query: { u: string } }) => request.query.u },
      ['/'],
    )
    expect(await statuses(limited, '/?u=offender', '/?u=offender')).toEqual([200, 429])
    for (let i = 0; i < 5_001; i++) await limited.inject(`/?u=${i}`)
    expect(await statuses(limited, '/?u=offender')).toEqual([429])
  })

  it('T50: takes any window that can be kept, from functions too, and fails where it cannot', async () => {
    const window = (ms: number) => app({ max: 1, timeWindow: () => ms }, ['/'])
    expect(await statuses(await window(333.33), '/', '/')).toEqual([200, 429])
    expect(await statuses(await window(Number.NaN), '/')).toEqual([500])
  })

  it('looks without counting', async () => {
    const limited = await app({ max: 1 }, ['/'])
    const check = (
      limited as never as { createRateLimit(): (request: unknown, options?: object) => Promise<object> }
    ).createRateLimit()
    const request = { ip: '192.0.2.1', routeOptions: {} }
    expect(await check(request, { increment: false })).toMatchObject({ remaining: 1 })
    expect(await check(request)).toMatchObject({ remaining: 0, isExceeded: false })
    expect(await check(request, { increment: false })).toMatchObject({ remaining: 0 })
  })

  it('passes failures of a store on', async () => {
    const failing = Object.assign(new MemoryStore(), {
      async: true,
      decide: () => Promise.reject(new StoreError('gone')),
    }) as never
    const options = { max: 1, store: fastifyRateLimitStore({ name: 'n', store: failing }) }
    expect(await statuses(await app(options, ['/']), '/')).toEqual([500])
    expect(await statuses(await app({ ...options, skipOnError: true }, ['/']), '/')).toEqual([200])
  })

  it('refuses to punish for asking', async () => {
    await expect(app({ max: 1, exponentialBackoff: true }, ['/'])).rejects.toThrow('use a limiter with block')
  })
})
