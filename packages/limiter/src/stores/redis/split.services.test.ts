import { Redis } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { planOf } from '../../core/decide/algorithms.ts'
import type { StepOptions } from '../../testing.ts'
import { RedisStore } from '../redis.ts'
import type { Outcome, Step } from '../store.ts'
import type { RedisClient } from './client.ts'
import { type RedisCluster, startCluster } from './cluster.test-support.ts'
import { Names, slotOf } from './names.ts'
import { per90d, stepOf } from './steps.test-support.ts'

let cluster: RedisCluster
const closing: (() => unknown)[] = []

beforeAll(async () => {
  cluster = await startCluster(2)
})

afterAll(async () => {
  for (const close of closing) await close()
  await cluster.stop()
})

const clients: Readonly<Record<string, (port: number) => Promise<RedisClient>>> = {
  async ioredis(port) {
    const client = new Redis.Cluster([{ host: '127.0.0.1', port }], { retryDelayOnFailover: 0 })
    closing.push(() => client.disconnect())
    return client
  },
  async 'node-redis'(port) {
    const client = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] })
    await client.connect()
    closing.push(() => client.destroy())
    return client
  },
}

/** Two keys whose states live on different nodes. */
function apart(): [string, string] {
  const keys = Array.from({ length: 100 }, () => crypto.randomUUID())
  const half = (key: string): boolean => slotOf({ key }) < 8_192
  return [keys.find(half)!, keys.find((key) => !half(key))!]
}

describe('slotOf', () => {
  it('is what a cluster says', async () => {
    for (const step of [stepOf(per90d(1)), stepOf(per90d(1), { key: '' })]) {
      const { state } = new Names('sluice').of(step)
      const slot = await cluster.nodes[0]!.admin.call('CLUSTER', 'KEYSLOT', state)
      expect(slotOf(step)).toBe(slot)
    }
  })
})

describe.each(Object.entries(clients))('A request over two nodes of a cluster, by %s', (_, connect) => {
  let store: RedisStore
  beforeAll(async () => {
    store = new RedisStore({ client: await connect(cluster.nodes[0]!.server.port) })
  })

  const left = async (...steps: Step[]): Promise<(number | null)[]> =>
    (await Promise.all(steps.map((step) => store.decide([step], true)))).map(
      ({ figures }) => figures[0]!.remaining,
    )
  const two = (more: StepOptions = {}, limits: readonly [number, number] = [5, 2]): [Step, Step] => {
    const [near, far] = apart()
    return [
      stepOf(per90d(limits[0]), { key: near, ...more }),
      stepOf(per90d(limits[1]), { key: far, ...more }),
    ]
  }

  it('charges all or nothing, and reports what is left after giving back (FB-080)', async () => {
    const [wide, narrow] = two()
    const outcomes: Outcome[] = []
    for (let i = 0; i < 3; i++) outcomes.push(await store.decide([wide, narrow], false))
    expect(outcomes.map(({ allowed }) => allowed)).toEqual([true, true, false])
    expect(outcomes[2]!.figures.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 3],
      [false, 0],
    ])
    expect(await left(wide, narrow)).toEqual([3, 0])
    expect((await store.decide([wide, { ...narrow, cost: 0 }], true)).allowed).toBe(true)
  })

  it('refuses by quota only when every quota is spent', async () => {
    const [large, small] = two({ quota: true }, [3, 1])
    const admitted: boolean[] = []
    for (let i = 0; i < 4; i++) admitted.push((await store.decide([large, small], false)).allowed)
    expect(admitted).toEqual([true, true, true, false])
  })

  it('counts for the block of a rule that refuses', async () => {
    const [wide, narrow] = two({ block: { after: 1, within: '30s', for: '5m' } }, [5, 1])
    expect((await store.decide([wide, { ...narrow, cost: 2 }], false)).allowed).toBe(false)
    const { allowed, figures } = await store.decide([narrow], true)
    expect([allowed, figures[0]!.blocked]).toEqual([false, true])
    expect(await left(wide)).toEqual([5])
  })

  it('never admits more than the smallest limit, however many ask at once', async () => {
    const [wide, narrow] = two({}, [40, 7])
    const outcomes = await Promise.all(Array.from({ length: 60 }, () => store.decide([wide, narrow], false)))
    expect(outcomes.filter(({ allowed }) => allowed)).toHaveLength(7)
    expect(await left(wide, narrow)).toEqual([33, 0])
  })

  it('settles on each node, once', async () => {
    const [wide, narrow] = two()
    const { at } = await store.decide([wide, narrow], false)
    const charges = [wide, narrow].map((step) => ({ step, at, change: -1 }))
    const once = { id: crypto.randomUUID(), until: at + 60_000_000 }
    expect([await store.settle(charges, once), await store.settle(charges, once)]).toEqual([true, false])
    expect(await left(wide, narrow)).toEqual([5, 2])
    expect(await store.settle([], { ...once, id: crypto.randomUUID() })).toBe(true)
    await store.reset(narrow)
  })

  it('gives back what one node charged when the other fails', async () => {
    const [wide, narrow] = two()
    const plan = planOf({ algorithm: 'sliding-window-log', limit: 1, period: '90s' })
    const log = stepOf(plan, { key: narrow.key })
    const name = new Names('sluice').of(log).state
    await cluster.nodes[1]!.admin.rpush(name, 'not ours')
    await expect(store.decide([wide, log], false)).rejects.toThrow('WRONGTYPE')
    await cluster.nodes[1]!.admin.del(name)
    expect(await left(wide)).toEqual([5])
  })
})
