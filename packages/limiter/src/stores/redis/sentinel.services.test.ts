import { Redis } from 'ioredis'
import { createSentinel } from 'redis'
import { afterEach, expect, it, vi } from 'vitest'
import { planOf } from '../../core/decide/algorithms.ts'
import { stepFor } from '../../testing.ts'
import { FallbackStore } from '../fallback.ts'
import { RedisStore } from '../redis.ts'
import type { Step } from '../store.ts'
import type { RedisClient } from './client.ts'
import { Load } from './load.test-support.ts'
import { type Sentinels, startSentinels } from './sentinel.test-support.ts'

/** Sentinels that split their votes on a loaded machine wait some seconds before each new election. */
const PATIENCE = { timeout: 90_000, interval: 20 }
const LIMIT = 200

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const clients = {
  async ioredis({ name, ports }: Sentinels): Promise<RedisClient> {
    const sentinels = ports.map((port) => ({ host: '127.0.0.1', port }))
    const client = new Redis({ sentinels, name, autoResendUnfulfilledCommands: false })
    client.on('error', () => undefined)
    closing.push(() => client.disconnect())
    await client.ping()
    return client
  },
  async 'node-redis'({ name, ports }: Sentinels): Promise<RedisClient> {
    const sentinelRootNodes = ports.map((port) => ({ host: '127.0.0.1', port }))
    const client = createSentinel({ name, sentinelRootNodes, maxCommandRediscovers: 0 })
    client.on('error', () => undefined)
    closing.push(() => client.destroy())
    await client.connect()
    return client
  },
}

function stepOf(key: string, limit: number): Step {
  const plan = planOf({ algorithm: 'fixed-window', limit, period: '3650d' })
  return stepFor(plan, { key, onStoreError: 'closed' })
}

it.each(Object.entries(clients))(
  'a failover by sentinels behind %s is answered for, and over',
  async (_name, connect) => {
    const sentinels = await startSentinels()
    closing.push(sentinels.stop)
    const redis = new RedisStore({ client: await connect(sentinels) })
    const store = new FallbackStore(redis, { deadlineMs: 200 })
    const busy = new Load(store, [stepOf('busy', LIMIT)])
    await vi.waitFor(() => expect(busy.exact.admitted).toBeGreaterThan(LIMIT / 4), PATIENCE)
    await sentinels.master.kill()
    await vi.waitFor(() => expect(busy.degraded.refused).toBeGreaterThan(50), PATIENCE)
    let keys = 0
    await vi.waitFor(async () => {
      const fresh = stepOf(`fresh ${keys++}`, 10)
      const outcomes = await Promise.all(Array.from({ length: 12 }, () => store.decide([fresh], false)))
      expect(outcomes.map(({ allowed, degraded = false }) => [allowed, degraded])).toEqual(
        outcomes.map((_, i) => [i < 10, false]),
      )
    }, PATIENCE)
    await vi.waitFor(() => expect(busy.exact.refused).toBeGreaterThan(0), PATIENCE)
    await busy.stop()
    expect([busy.rejected, busy.degraded.admitted]).toEqual([0, 0])
    // What the master had not told its replica is forgotten: at most a limit's worth.
    expect(busy.exact.admitted).toBeLessThanOrEqual(2 * LIMIT)
    expect(busy.exact.admitted + busy.degraded.refused).toBeGreaterThanOrEqual(LIMIT)
  },
)
