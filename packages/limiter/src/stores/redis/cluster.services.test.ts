import { readdirSync, readFileSync } from 'node:fs'
import { parseVectors, runVectors } from '@sluice/conformance'
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { planOf } from '../../core/decide/algorithms.ts'
import { stepFor } from '../../testing.ts'
import { FallbackStore } from '../fallback.ts'
import { RedisStore } from '../redis.ts'
import type { Outcome, Step, Store } from '../store.ts'
import type { RedisClient } from './client.ts'
import {
  type ClusterNode,
  failOverSoon,
  moveSlot,
  type RedisCluster,
  startCluster,
} from './cluster.test-support.ts'
import { Load } from './load.test-support.ts'
import { slotOf } from './names.ts'

const VECTORS = new URL('../../../../conformance/vectors/', import.meta.url)
const PATIENCE = { timeout: 60_000, interval: 20 }

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster(3, 1)
})
afterAll(() => cluster.stop())

const closing: (() => unknown)[] = []
afterAll(() => {
  for (const close of closing) close()
})

const clients = {
  async ioredis(): Promise<RedisClient> {
    const nodes = cluster.nodes.map(({ server }) => ({ host: '127.0.0.1', port: server.port }))
    const client = new Cluster(nodes, { retryDelayOnFailover: 0 })
    client.on('error', () => undefined)
    closing.push(() => client.disconnect())
    await client.ping()
    return client
  },
  async 'node-redis'(): Promise<RedisClient> {
    const rootNodes = cluster.nodes.map(({ server }) => ({ url: `redis://127.0.0.1:${server.port}` }))
    const client = createCluster({ rootNodes })
    client.on('error', () => undefined)
    closing.push(() => client.destroy())
    await client.connect()
    return client
  },
}

function mastersOf({ nodes }: RedisCluster): [ClusterNode, ClusterNode, ClusterNode] {
  return nodes.slice(0, 3) as [ClusterNode, ClusterNode, ClusterNode]
}

/** A key in the slots of a master. */
function keyOf(master: number): string {
  for (let i = 0; ; i++)
    if (Math.floor((slotOf({ key: `key ${i}` }) * 3) / 16_384) === master) return `key ${i}`
}

let names = 0
/** A step by a policy of its own, so that no test meets the counters of another. */
function stepOf(limit: number, key: string, name = `policy ${names++}`): Step {
  const plan = planOf({ algorithm: 'fixed-window', limit, period: '3650d' })
  return stepFor(plan, { name, key, onStoreError: 'closed' })
}

function together(store: Store<true>, count: number, ...steps: Step[]): Promise<Outcome[]> {
  return Promise.all(Array.from({ length: count }, () => store.decide(steps, false)))
}

const admittedOf = (outcomes: readonly Outcome[]): number => outcomes.filter(({ allowed }) => allowed).length

async function usedOf(store: Store<true>, step: Step): Promise<number> {
  const [figures] = (await store.decide([step], true)).figures
  return figures!.limit - figures!.remaining!
}

describe.each(Object.entries(clients))('a cluster behind %s', (_name, connect) => {
  let redis: RedisStore
  beforeAll(async () => {
    redis = new RedisStore({ client: await connect() })
  })

  it.each(readdirSync(VECTORS))('decides as %s says', async (file) => {
    const vectors = parseVectors(readFileSync(new URL(file, VECTORS), 'utf8'))
    const client = await connect()
    const report = await runVectors(vectors, (clock) => new RedisStore({ client, clock }))
    expect(report).toMatchObject({ failed: 0, differences: [] })
    expect(report.passed).toBeGreaterThan(0)
  })

  it('FB-080: decides on all policies of one key at once, and never on a part of them', async () => {
    const [ten, five] = [stepOf(10, 'ada'), stepOf(5, 'ada')]
    expect(admittedOf(await together(redis, 50, ten, five))).toBe(5)
    expect([await usedOf(redis, ten), await usedOf(redis, five)]).toEqual([5, 5])
  })

  it('puts keys where their hashes say, whatever braces they have', async () => {
    const keys = Array.from({ length: 60 }, (_, i) => `{one}${i}`)
    const { name } = stepOf(1, '').rule
    const before = await Promise.all(cluster.nodes.slice(0, 3).map(({ admin }) => admin.dbsize()))
    for (const key of keys) await redis.decide([stepOf(1, key, name)], false)
    const after = await Promise.all(cluster.nodes.slice(0, 3).map(({ admin }) => admin.dbsize()))
    for (const [i, size] of after.entries()) expect(size - before[i]!).toBeGreaterThan(5)
    for (const key of keys) expect(await usedOf(redis, stepOf(1, key, name))).toBe(1)
  })

  it('gives back what one slot charged where another refuses, and admits nobody too many', async () => {
    const hosts = ['a', 'b', 'c', 'd'].map((key) => stepOf(40, key))
    const users = Array.from({ length: 20 }, (_, i) => stepOf(4, `user ${i}`))
    const admitted = new Map<Step, number>()
    const ask = async (i: number): Promise<void> => {
      const steps = [hosts[i % hosts.length]!, users[(i * 7) % users.length]!]
      const { allowed } = await redis.decide(steps, false)
      if (allowed) for (const step of steps) admitted.set(step, (admitted.get(step) ?? 0) + 1)
    }
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 40 }, (_, i) => ask(round * 40 + i)))
    }
    for (const step of [...hosts, ...users]) {
      const used = await usedOf(redis, step)
      expect(used).toBe(admitted.get(step) ?? 0)
      expect(used).toBeLessThanOrEqual(step.rule.plan.limit)
    }
    for (const step of users) expect(admitted.get(step)).toBeGreaterThan(0)
  })

  it('counts every unit once while the slot of a key moves, and nobody notices', async () => {
    const [first, second] = mastersOf(cluster)
    const key = keyOf(0)
    const store = new FallbackStore(redis, { deadlineMs: 5_000 })
    const steps = [stepOf(1_000_000, key), stepOf(1_000_000, key)] as const
    const load = new Load(store, [steps[0]], [steps[1]])
    await load.runs()
    await moveSlot(slotOf({ key }), first, second, () => load.runs())
    await load.runs()
    await moveSlot(slotOf({ key }), second, first, () => load.runs())
    await load.runs()
    await load.stop()
    expect([load.rejected, load.degraded.refused, load.exact.refused]).toEqual([0, 0, 0])
    expect((await usedOf(redis, steps[0])) + (await usedOf(redis, steps[1]))).toBe(load.exact.admitted)
  })

  it('says so where two keys of one request are in different places for a moment, and charges neither', async () => {
    const [first, second] = mastersOf(cluster)
    const key = keyOf(0)
    const steps = [stepOf(1_000_000, key), stepOf(1_000_000, key)]
    const load = new Load(new FallbackStore(redis, { deadlineMs: 5_000 }), steps)
    await load.runs()
    await moveSlot(slotOf({ key }), first, second, () => load.runs())
    await load.runs()
    await moveSlot(slotOf({ key }), second, first, () => load.runs())
    await load.stop()
    expect([load.rejected, load.degraded.admitted, load.exact.refused]).toEqual([0, 0, 0])
    expect(load.exact.admitted).toBeGreaterThan(0)
    for (const step of steps) expect(await usedOf(redis, step)).toBe(load.exact.admitted)
  })
})

describe('a cluster whose master dies', () => {
  beforeAll(() => failOverSoon(cluster))

  it.each([
    ['ioredis', clients.ioredis, 0],
    ['node-redis', clients['node-redis'], 1],
  ] as const)(
    'is answered for, and exact again when the replica stands in: %s',
    async (_name, connect, victim) => {
      const redis = new RedisStore({ client: await connect() })
      const store = new FallbackStore(redis, { deadlineMs: 200 })
      const [hit, spared] = [stepOf(1_000_000, keyOf(victim)), stepOf(1_000_000, keyOf(2))]
      const loads = [new Load(store, [hit]), new Load(store, [spared])] as const
      const [lost, kept] = loads
      await vi.waitFor(() => expect(lost.exact.admitted).toBeGreaterThan(50), PATIENCE)
      await cluster.nodes[victim]!.server.kill()
      await vi.waitFor(() => expect(lost.degraded.refused).toBeGreaterThan(50), PATIENCE)
      await vi.waitFor(async () => {
        const outcomes = await together(store, 12, stepOf(10, keyOf(victim)))
        expect([admittedOf(outcomes), outcomes.some(({ degraded }) => degraded)]).toEqual([10, false])
      }, PATIENCE)
      await Promise.all(loads.map((load) => load.stop()))
      for (const { rejected, exact, degraded } of loads) {
        expect([rejected, exact.refused, degraded.admitted]).toEqual([0, 0, 0])
      }
      expect(kept.exact.admitted).toBeGreaterThan(kept.degraded.refused) // it is asked all the while
      expect(await usedOf(redis, spared)).toBeGreaterThanOrEqual(kept.exact.admitted)
      expect(await usedOf(redis, hit)).toBeLessThanOrEqual(lost.asked)
    },
  )
})
