import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Plan } from '../core/decide/algorithm.ts'
import { planOf } from '../core/decide/algorithms.ts'
import { MAX } from '../core/decide/integers.ts'
import type { Observer } from '../observe/events.ts'
import { type StepOptions, stepFor } from '../testing.ts'
import { FallbackStore } from './fallback.ts'
import type { RedisClient } from './redis/client.ts'
import { Load } from './redis/load.test-support.ts'
import { startProxy, type TcpProxy } from './redis/proxy.test-support.ts'
import { type RedisServer, startRedis } from './redis/server.test-support.ts'
import { RedisStore } from './redis.ts'
import type { Step } from './store.ts'

const counted = planOf({ algorithm: 'fixed-window', limit: MAX, period: '3650d' })
const ten = planOf({ algorithm: 'fixed-window', limit: 10, period: '3650d' })

function stepOf(
  onStoreError: 'open' | 'closed' | 'local',
  more: StepOptions = {},
  plan: Plan = counted,
): Step {
  return stepFor(plan, { name: onStoreError, onStoreError, ...more })
}

const MODES = ['open', 'closed', 'local'] as const
/** So long at most, on however slow a machine: what takes a fraction of it. */
const PATIENCE = { timeout: 20_000, interval: 20 }

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Clients as they come, but for what would send a charge twice. */
const clients = {
  async ioredis(port: number): Promise<RedisClient> {
    const client = new Redis({ port, autoResendUnfulfilledCommands: false })
    client.on('error', () => undefined)
    closing.push(() => client.disconnect())
    await client.ping()
    return client
  },
  async 'node-redis'(port: number): Promise<RedisClient> {
    const client = createClient({ url: `redis://127.0.0.1:${port}` })
    client.on('error', () => undefined)
    closing.push(() => client.destroy())
    await client.connect()
    return client
  },
}

/** Without a client, so that the server can be spoken to in any state. */
interface Bench {
  readonly server: RedisServer
  readonly proxy: TcpProxy
  readonly admin: Redis
}

const failures: Readonly<
  Record<string, { fail(bench: Bench): unknown; mend(bench: Bench): unknown; forgets?: true }>
> = {
  'stands still': { fail: ({ server }) => server.pause(), mend: ({ server }) => server.resume() },
  'dies and comes back empty': {
    fail: ({ server }) => server.kill(),
    mend: ({ server }) => server.restart(),
    forgets: true,
  },
  'is full': {
    fail: ({ admin }) => admin.config('SET', 'maxmemory', '1'),
    mend: ({ admin }) => admin.config('SET', 'maxmemory', '0'),
  },
  'is a replica that takes no writes': {
    fail: ({ admin }) => admin.replicaof('127.0.0.1', 1),
    mend: ({ admin }) => admin.replicaof('NO', 'ONE'),
  },
  'wants a password': {
    async fail({ admin }) {
      await admin.config('SET', 'requirepass', 'secret')
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal')
    },
    mend: ({ admin }) => admin.config('SET', 'requirepass', ''),
  },
  'answers too late': {
    fail: ({ proxy }) => {
      proxy.delayMs = 2_000
    },
    mend: ({ proxy }) => {
      proxy.delayMs = 0
    },
  },
  'loses its answers': {
    fail: ({ proxy }) => {
      proxy.losesAnswers = true
    },
    mend: ({ proxy }) => {
      proxy.losesAnswers = false
    },
  },
}

async function setUp(
  connect: (port: number) => Promise<RedisClient>,
): Promise<Bench & { redis: RedisStore }> {
  const server = await startRedis()
  closing.push(server.stop)
  const proxy = await startProxy(server.port)
  closing.push(proxy.close)
  const admin = new Redis({ port: server.port, autoResendUnfulfilledCommands: false })
  admin.on('error', () => undefined)
  closing.push(() => admin.disconnect())
  return { server, proxy, admin, redis: new RedisStore({ client: await connect(proxy.port) }) }
}

async function usedOf(redis: RedisStore, step: Step): Promise<number> {
  const { figures } = await redis.decide([step], true)
  return figures[0]!.limit - figures[0]!.remaining
}

let keys = 0
/** A key that nobody used yet has ten units, to the last of them, and the store says so. */
async function isExact(store: FallbackStore): Promise<void> {
  const step = stepOf('closed', { key: `fresh ${keys++}` }, ten)
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => store.decide([step], false)))
  expect(outcomes.map(({ allowed, degraded = false }) => [allowed, degraded])).toEqual(
    outcomes.map((_, i) => [i < 10, false]),
  )
}

describe.each(Object.entries(clients))('a Redis behind %s', (_client, connect) => {
  it.each(Object.entries(failures))(
    'T63, T10: that %s is answered for, and exact again by itself',
    async (_kind, failure) => {
      const bench = await setUp(connect)
      const told = vi.fn()
      const observe: Observer = (event) => {
        if (event.type === 'store-failed') told(event.error)
      }
      const store = new FallbackStore(bench.redis, { deadlineMs: 100, observe })
      const loads = MODES.map((mode) => new Load(store, [stepOf(mode)]))
      await vi.waitFor(() => isExact(store), PATIENCE)

      await failure.fail(bench)
      await vi.waitFor(() => {
        for (const { degraded } of loads) expect(degraded.admitted + degraded.refused).toBeGreaterThan(50)
      }, PATIENCE)
      expect(told).toHaveBeenCalled()
      await failure.mend(bench)
      await vi.waitFor(() => isExact(store), PATIENCE)
      await Promise.all(loads.map((load) => load.stop()))

      for (const { rejected, exact } of loads) expect([rejected, exact.refused]).toEqual([0, 0])
      const [open, closed, local] = loads as [Load, Load, Load]
      expect([open.degraded.refused, closed.degraded.admitted, local.degraded.refused]).toEqual([0, 0, 0])
      for (const [i, { exact, asked }] of loads.entries()) {
        const used = await usedOf(bench.redis, stepOf(MODES[i]!))
        expect(used).toBeLessThanOrEqual(asked)
        if (failure.forgets !== true) expect(used).toBeGreaterThanOrEqual(exact.admitted)
      }
    },
  )

  it('FB-076, T09: is asked once, even when its answer is lost', async () => {
    const { proxy, redis } = await setUp(connect)
    const store = new FallbackStore(redis, { deadlineMs: 100 })
    await vi.waitFor(() => isExact(store), PATIENCE)
    await store.decide([stepOf('closed', { key: 'another' })], false) // the server knows the script from now on
    proxy.losesAnswers = true
    expect(await store.decide([stepOf('closed')], false)).toMatchObject({ allowed: false, degraded: true })
    expect(proxy.lost).toBeGreaterThan(0)
    proxy.losesAnswers = false
    await vi.waitFor(() => isExact(store), PATIENCE)
    expect(await usedOf(redis, stepOf('closed'))).toBe(1)
  })

  it('whose connection breaks again and again in the middle of requests never charges twice', async () => {
    const { proxy, redis } = await setUp(connect)
    const store = new FallbackStore(redis, { deadlineMs: 100, probeEveryMs: 20 })
    const load = new Load(store, [stepOf('open')], [stepOf('open')])
    for (let i = 1; i <= 10; i++) {
      await vi.waitFor(() => isExact(store), PATIENCE)
      proxy.cutAfterBytes = i * 97
      await vi.waitFor(() => expect(proxy.cutAfterBytes).toBe(Number.POSITIVE_INFINITY), PATIENCE)
    }
    await vi.waitFor(() => isExact(store), PATIENCE)
    await load.stop()
    expect([load.rejected, load.exact.refused, load.degraded.refused]).toEqual([0, 0, 0])
    const used = await usedOf(redis, stepOf('open'))
    expect(used).toBeLessThanOrEqual(load.asked)
    expect(used).toBeGreaterThanOrEqual(load.exact.admitted)
  })
})
