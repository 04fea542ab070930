import { RedisStore } from '@sluice/limiter/stores/redis'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../limiter/src/stores/redis/server.test-support.ts'
import { bench, get, post, type ServiceBench } from '../testing.ts'

const RULES = `
domain: shop
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 100/day, block: { after: 1000, within: 1h, for: 10m } }
  - { name: search, when: { path: /search }, key: [ip], limit: 5/day, blockable: true }
  - { name: everyone, key: [], limit: 100000/day, lease: 50 }
`
const KEY = { domain: 'shop', policy: 'login', key: '203.0.113.1' }

async function withNodes(run: (nodes: readonly ServiceBench[]) => Promise<void>): Promise<void> {
  const redis: RedisServer = await startRedis()
  const clients = [1, 2].map(() => new Redis(redis.port, { autoResendUnfulfilledCommands: false }))
  const nodes = await Promise.all(
    clients.map((client) =>
      bench(RULES, { store: new RedisStore({ client }), fallback: { deadlineMs: 60_000 } }),
    ),
  )
  try {
    await run(nodes)
  } finally {
    for (const node of nodes) await node.close()
    for (const client of clients) client.disconnect()
    await redis.stop()
  }
}

test('acceptance 6.7: a key that is blocked at one node is refused at every other at once, and admitted when the block is ended', async () => {
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
    expect(lists[0].denied.keys).toMatchObject([{ key: KEY.key, atLeast: 1, atMost: 1 }])
    expect((await post(b.admin, '/v1/unblock', KEY)).status).toBe(200)
    for (const node of nodes) expect(await check(node)).toBe(true)
  })
})

test('acceptance 6.7: neither a lease nor a refusal that a node remembers lets a block pass, or outlast its end', async () => {
  await withNodes(async (nodes) => {
    const ask = async (node: ServiceBench, path: string, ip: string): Promise<boolean> =>
      (await post(node.http, '/v1/check', { domain: 'shop', request: { path, ip } })).body.allowed
    const key = '203.0.113.9'
    const search = { domain: 'shop', policy: 'search', key }
    // Each node has a lease of the limit that all share, and knows a key that is over its limit.
    for (const node of nodes) for (let i = 0; i < 60; i++) await ask(node, '/', `192.0.2.${i}`)
    for (const node of nodes) expect(await prefetchedAt(node)).toBeGreaterThan(0)
    for (let i = 0; i < 5; i++) expect(await ask(nodes[i % 2]!, '/search', key)).toBe(true)
    for (const node of nodes) expect(await ask(node, '/search', key)).toBe(false)
    for (const [at, elsewhere] of [nodes, [...nodes].reverse()] as [ServiceBench, ServiceBench][]) {
      expect((await post(at.admin, '/v1/reset', search)).status).toBe(200)
      for (const node of nodes) expect(await ask(node, '/search', key)).toBe(true)
      expect((await post(at.admin, '/v1/block', { ...search, duration: '10m' })).status).toBe(200)
      for (const node of nodes) expect(await ask(node, '/search', key)).toBe(false)
      expect(await ask(elsewhere, '/', key)).toBe(true) // not in the policy that it is blocked in
      expect((await post(elsewhere.admin, '/v1/unblock', search)).status).toBe(200)
      for (const node of nodes) expect(await ask(node, '/search', key)).toBe(true)
    }
    const refused = await post(nodes[0]!.admin, '/v1/block', {
      ...search,
      policy: 'everyone',
      key: '',
      duration: '1m',
    })
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringMatching(/blockable: true/)])
  })
})

/** Requests that a node granted without asking the Redis. */
async function prefetchedAt({ admin }: ServiceBench): Promise<number> {
  const { body } = await admin.inject({ url: '/metrics', headers: { host: 'localhost' } })
  return Number(/^sluice_store_prefetched_requests_total (\d+)$/m.exec(body)![1])
}
