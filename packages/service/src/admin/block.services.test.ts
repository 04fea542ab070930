import { RedisStore } from '@sluice/limiter/stores/redis'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../limiter/src/stores/redis/server.test-support.ts'
import { bench, get, post, type ServiceBench } from '../testing.ts'

const RULES = `
domain: shop
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 100/day, block: { after: 1000, within: 1h, for: 10m } }
`
const KEY = { domain: 'shop', policy: 'login', key: '203.0.113.1' }

async function withNodes(run: (nodes: readonly ServiceBench[]) => Promise<void>): Promise<void> {
  const redis: RedisServer = await startRedis()
  const clients = [1, 2].map(() => new Redis(redis.port, { autoResendUnfulfilledCommands: false }))
  const nodes = await Promise.all(
    clients.map((client) => bench(RULES, { store: new RedisStore({ client }) })),
  )
  try {
    await run(nodes)
  } finally {
    for (const node of nodes) await node.close()
    for (const client of clients) client.disconnect()
    await redis.stop()
  }
}

test('a key that is blocked at one node is refused at every other at once, and admitted when the block is ended', async () => {
  await withNodes(async (nodes) => {
    const [a, b] = nodes as [ServiceBench, ServiceBench]
    const check = async (node: ServiceBench): Promise<boolean> =>
      (await post(node.http, '/v1/check', { domain: 'shop', request: { path: '/login', ip: KEY.key } })).body
        .allowed
    for (const node of nodes) expect(await check(node)).toBe(true)
    expect((await post(a.admin, '/v1/block', { ...KEY, duration: '10m' })).status).toBe(200)
    for (const node of nodes) expect(await check(node)).toBe(false)
    const { body } = await get(b.admin, `/v1/key?${new URLSearchParams(KEY)}`)
    expect(body.figures).toMatchObject([{ blocked: true, blockable: true, degraded: false }])
    const { lists } = (await get(b.admin, '/v1/offenders')).body
    expect(lists[0].denied.keys).toEqual([{ key: KEY.key, atLeast: 1, atMost: 1 }])
    expect((await post(b.admin, '/v1/unblock', KEY)).status).toBe(200)
    for (const node of nodes) expect(await check(node)).toBe(true)
  })
})
