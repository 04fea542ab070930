import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter.ts'
import type { Observer } from '../observe/events.ts'
import { PrefetchStore } from './prefetch.ts'
import { type RedisServer, startRedis } from './redis/server.test-support.ts'
import { RedisStore } from './redis.ts'

const NODES = 3
const PREFETCH = 20
const LIMIT = 2_000

let server: RedisServer
const clients: Redis[] = []
beforeAll(async () => {
  server = await startRedis()
})
afterAll(async () => {
  for (const client of clients) client.disconnect()
  await server.stop()
})

function storeOf(): RedisStore {
  const client = new Redis({ port: server.port, autoResendUnfulfilledCommands: false })
  clients.push(client)
  return new RedisStore({ client })
}

/** Asks again and again, several at a time. @returns how many were admitted */
async function hammer(ask: () => Promise<{ readonly allowed: boolean }>, requests: number): Promise<number> {
  let admitted = 0
  let left = requests
  const caller = async (): Promise<void> => {
    while (left-- > 0) if ((await ask()).allowed) admitted++
  }
  await Promise.all(Array.from({ length: 8 }, caller))
  return admitted
}

describe('nodes that share a Redis and a hot key', () => {
  it.each([
    ['fixed-window', { algorithm: 'fixed-window', limit: LIMIT, period: '365d' }],
    ['token-bucket', { algorithm: 'token-bucket', limit: 1, period: '365d', burst: LIMIT }],
    ['sliding-window-log', { algorithm: 'sliding-window-log', limit: LIMIT, period: '365d' }],
  ] as const)(
    'together admit no more than there is, and return what they leave (%s)',
    async (name, policy) => {
      const policies = { hot: { ...policy, prefetch: PREFETCH } }
      let granted = 0
      const observe: Observer = ({ type }) => {
        if (type === 'prefetched') granted++
      }
      const stores = Array.from(
        { length: NODES },
        () => new PrefetchStore(storeOf(), { nodes: NODES, idleMs: 3_600_000, observe }),
      )
      const nodes = stores.map((store) => createLimiter({ name, store, policies }))
      const bare = createLimiter({ name, store: storeOf(), policies })

      const some = await Promise.all(nodes.map((node) => hammer(() => node.check('k'), 300)))
      expect(some).toEqual(Array.from({ length: NODES }, () => 300))
      const unused = LIMIT - 300 * NODES - (await bare.peek('k')).remaining!
      expect(unused).toBeGreaterThan(0)
      expect(unused).toBeLessThanOrEqual(NODES * (PREFETCH - 1))
      expect(granted).toBeGreaterThan(NODES * 150)

      await Promise.all(stores.map((store) => store.release()))
      expect((await bare.peek('k')).remaining).toBe(LIMIT - 300 * NODES)

      const rest = await Promise.all(nodes.map((node) => hammer(() => node.check('k'), 800)))
      const total = 300 * NODES + rest.reduce((sum, admitted) => sum + admitted, 0)
      expect(total).toBeLessThanOrEqual(LIMIT)
      expect(total).toBeGreaterThanOrEqual(LIMIT - NODES * (PREFETCH - 1))
      await Promise.all(stores.map((store) => store.close()))
      expect((await bare.peek('k')).remaining).toBe(LIMIT - total)
    },
  )
})
