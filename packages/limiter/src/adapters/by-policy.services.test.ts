import { served } from '@sluice/conformance'
import express from 'express'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter.ts'
import { type RedisServer, startRedis } from '../stores/redis/server.test-support.ts'
import { RedisStore } from '../stores/redis.ts'
import { rateLimit } from './express.ts'

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

/** Requests and tokens per hour: those of a tenant together, those of each of its keys. */
const POLICIES = {
  requests: { algorithm: 'token-bucket', limit: 3, period: '1h', key: 'tenant' },
  tokens: { algorithm: 'token-bucket', limit: 1_000, period: '1h', key: 'apiKey' },
} as const

const remaining = (decision: {
  readonly policies: readonly { policy: string; remaining: number | null }[]
}) => Object.fromEntries(decision.policies.map((own) => [own.policy, own.remaining]))

describe('a key and a cost for each policy, as one decision over Redis', () => {
  it('are charged all or none', async () => {
    const limiter = createLimiter({
      name: 'llm',
      store: new RedisStore({ client }),
      policies: POLICIES,
    })
    const ask = (apiKey: string, tokens: number) =>
      limiter.check({ tenant: 't1', apiKey }, { cost: { requests: 1, tokens } })
    expect(remaining(await ask('a', 600))).toEqual({ requests: 2, tokens: 400 })
    const refused = await ask('a', 600)
    expect([refused.allowed, refused.policy, remaining(refused)]).toEqual([
      false,
      'tokens',
      { requests: 2, tokens: 400 },
    ])
    expect(remaining(await ask('b', 1_000))).toEqual({ requests: 1, tokens: 0 })
    const reservation = await limiter.reserve(
      { tenant: 't1', apiKey: 'a' },
      { cost: { requests: 1, tokens: 400 } },
    )
    expect(await reservation.commit({ tokens: 100 })).toBe(true)
    expect(remaining(await limiter.peek({ tenant: 't1', apiKey: 'a' }))).toEqual({ requests: 0, tokens: 300 })
    expect((await ask('c', 1)).policy).toBe('requests')
  })

  it('are taken from requests by an adapter, and settled by what was used', async () => {
    const app = express()
    app.use(
      rateLimit({
        name: 'gateway',
        store: new RedisStore({ client }),
        deadlineMs: 60_000,
        policies: POLICIES,
        key: (request) => ({ tenant: request.get('x-tenant'), apiKey: request.get('x-api-key') }),
        cost: (request) => ({ tokens: Number(request.get('x-max-tokens')) }),
        settleCost: (request) => ({ tokens: Number(request.get('x-used')) }),
        dialect: 'ietf',
      }),
    )
    app.get('/', (request, response) => void response.json(remaining(request.rateLimit!.decision)))
    const listening = await served(app)
    try {
      const ask = async (apiKey: string, most: number, used: number) => {
        const headers = {
          'x-tenant': 't2',
          'x-api-key': apiKey,
          'x-max-tokens': `${most}`,
          'x-used': `${used}`,
        }
        const response = await fetch(`http://127.0.0.1:${listening.port}/`, { headers })
        return { status: response.status, body: (await response.json()) as Record<string, unknown> }
      }
      expect(await ask('a', 800, 100)).toEqual({ status: 200, body: { requests: 2, tokens: 200 } })
      // The tokens are settled after the answer.
      const own = createLimiter({ name: 'gateway', store: new RedisStore({ client }), policies: POLICIES })
      const left = async () => remaining(await own.peek({ tenant: 't2', apiKey: 'a' }))
      await expect.poll(left).toEqual({ requests: 2, tokens: 900 })
      expect((await ask('a', 0, 0)).body).toEqual({ requests: 1, tokens: 900 })
      const refused = await ask('a', 901, 0)
      expect([refused.status, refused.body['violated-policies']]).toEqual([429, ['tokens']])
      expect(await ask('b', 1_000, 1_000)).toEqual({ status: 200, body: { requests: 0, tokens: 0 } })
      expect((await ask('c', 1, 1)).body['violated-policies']).toEqual(['requests'])
    } finally {
      await listening.close()
    }
  })

  it('takes a list of parts as the key, so that two tenants with one address count apart', async () => {
    const app = express()
    app.use(
      rateLimit({
        name: 'parts',
        store: new RedisStore({ client }),
        deadlineMs: 60_000,
        limit: 1,
        period: '1h',
        key: ['ip', 'header:x-tenant', (request, _response, address) => `${request.method} from ${address}`],
      }),
    )
    app.get('/', (request, response) => void response.send(request.rateLimit!.key))
    const listening = await served(app)
    try {
      const ask = (tenant: string) =>
        fetch(`http://127.0.0.1:${listening.port}/`, { headers: { 'x-tenant': tenant } })
      const [first, again, other] = [await ask('a'), await ask('a'), await ask('b')]
      expect([first.status, again.status, other.status]).toEqual([200, 429, 200])
      expect(await other.text()).toBe('127.0.0.1 b GET from 127.0.0.1')
    } finally {
      await listening.close()
    }
  })
})
