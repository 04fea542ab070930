import { readdirSync, readFileSync } from 'node:fs'
import { parseVectors, runVectors, storeSuite } from '@sluice/conformance'
import { Redis as RestClient } from '@upstash/redis'
import { GlideClient } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { Redis as Valkey } from 'iovalkey'
import { createClient, createClientPool } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { planOf } from '../core/decide/algorithms.ts'
import { MAX } from '../core/decide/integers.ts'
import { ConfigError } from '../core/errors.ts'
import type { RedisClient } from './redis/client.ts'
import { startRest } from './redis/rest.test-support.ts'
import { type RedisServer, startRedis } from './redis/server.test-support.ts'
import { per90d, stepOf } from './redis/steps.test-support.ts'
import { RedisStore } from './redis.ts'
import type { Outcome } from './store.ts'

const VECTORS = new URL('../../../conformance/vectors/', import.meta.url)

let server: RedisServer
let redis: Redis
const closing: (() => unknown)[] = []

beforeAll(async () => {
  server = await startRedis()
  redis = new Redis({ port: server.port, autoResendUnfulfilledCommands: false })
})

afterAll(async () => {
  for (const close of closing) await close()
  redis.disconnect()
  await server.stop()
})

const clients: Readonly<Record<string, () => Promise<RedisClient>>> = {
  async ioredis() {
    return redis
  },
  async iovalkey() {
    const client = new Valkey({ port: server.port, autoResendUnfulfilledCommands: false })
    closing.push(() => client.disconnect())
    return client
  },
  async 'node-redis'() {
    const client = createClient({ url: `redis://127.0.0.1:${server.port}` })
    closing.push(() => client.destroy())
    return client.connect()
  },
  async 'a node-redis pool, told to answer in RESP3'() {
    const pool = createClientPool({ url: `redis://127.0.0.1:${server.port}`, RESP: 3 })
    closing.push(() => pool.destroy())
    await pool.connect()
    return pool
  },
  async 'Valkey GLIDE'() {
    const client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port: server.port }] })
    closing.push(() => client.close())
    return client
  },
  async '@upstash/redis, over REST'() {
    const { url, stop } = await startRest(redis)
    closing.push(stop)
    return new RestClient({ url, token: 'any', retry: { retries: 0 }, automaticDeserialization: false })
  },
  async 'ioredis, told to answer integers as text'() {
    const options = { port: server.port, stringNumbers: true, autoResendUnfulfilledCommands: false }
    const client = new Redis(options)
    closing.push(() => client.disconnect())
    return client
  },
}

storeSuite({ describe, it }, 'the Redis store', (clock) => new RedisStore({ client: redis, clock }))

describe.each(Object.entries(clients))('The Redis store over %s', (_, connect) => {
  it('passes the vectors', async () => {
    const client = await connect()
    let passed = 0
    for (const name of client === redis ? readdirSync(VECTORS) : ['worked.json']) {
      const vectors = parseVectors(readFileSync(new URL(name, VECTORS), 'utf8'))
      const report = await runVectors(vectors, (clock) => new RedisStore({ client, clock }))
      expect(report, name).toMatchObject({ failed: 0, differences: [] })
      passed += report.passed
    }
    expect(passed).toBe(client === redis ? 10_899 : 99)
  })

  it('tells integers up to 2^53−1 as they are', async () => {
    const store = new RedisStore({ client: await connect() })
    const plan = planOf({ algorithm: 'fixed-window', limit: MAX, period: '1s' })
    const { figures } = await store.decide([stepOf(plan)], true)
    expect(figures[0]!.remaining).toBe(2 ** 53 - 1)
  })

  it('runs its scripts on a server that has lost them', async () => {
    const store = new RedisStore({ client: await connect() })
    const step = stepOf(per90d(70))
    const answers: Promise<Outcome>[] = []
    for (let i = 0; i < 100; i++) {
      answers.push(store.decide([step], false))
      if (i % 10 === 0) await redis.script('FLUSH')
    }
    expect((await Promise.all(answers)).filter(({ allowed }) => allowed)).toHaveLength(70)
    await redis.script('FLUSH')
    expect(await store.settle([{ step, at: 0, change: 1 }])).toBe(true)
  })
})

describe('A RedisStore', () => {
  it.each([
    [{}, '`client` or `send`'],
    [{ send: async () => null, prefix: 'a{b' }, 'prefix must be'],
    [{ send: async () => null, prefix: '' }, 'prefix must be'],
    [
      { client: {} as RedisClient },
      'must be an ioredis, iovalkey, node-redis, GLIDE or @upstash/redis client',
    ],
    [
      { client: null as unknown as RedisClient },
      'must be an ioredis, iovalkey, node-redis, GLIDE or @upstash/redis client',
    ],
    [{ client: new Redis({ lazyConnect: true }) }, 'autoResendUnfulfilledCommands: false'],
    [{ client: new Valkey({ lazyConnect: true }) }, 'autoResendUnfulfilledCommands: false'],
    [{ client: new RestClient({ url: 'http://127.0.0.1:1', token: 'any' }) }, 'retry: { retries: 0 }'],
    [
      { client: new RestClient({ url: 'http://127.0.0.1:1', token: 'any', retry: false }) },
      'retry: { retries: 0 }',
    ],
    [{ client: new Redis.Cluster([], { lazyConnect: true }) }, 'retryDelayOnFailover: 0'],
  ])('refuses what cannot work: %j', (options, message) => {
    expect(() => new RedisStore(options)).toThrow(ConfigError)
    expect(() => new RedisStore(options)).toThrow(message)
  })

  it('refuses a request without measure', async () => {
    const store = new RedisStore({ client: redis })
    await expect(store.decide(new Array(1_001).fill(stepOf(per90d(1))), false)).rejects.toThrow(RangeError)
  })
})
