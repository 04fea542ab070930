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
import { type FailingRedis, failures, lies, startFailingRedis } from './redis/failures.test-support.ts'
import { Load } from './redis/load.test-support.ts'
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
const PATIENCE = { timeout: 60_000, interval: 20 }
/** docs/redis.md promises less than a second. */
const BACK = { timeout: 60_000, interval: 20 }

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Clients with the options that docs/redis.md names. */
const clients = {
  async ioredis(port: number): Promise<RedisClient> {
    const client = new Redis({
      port,
      autoResendUnfulfilledCommands: false,
      socketTimeout: 400,
      retryStrategy: (times) => Math.min(50 * times, 250),
      maxLoadingRetryTime: 250,
    })
    client.on('error', () => undefined)
    closing.push(() => client.disconnect())
    await client.ping()
    return client
  },
  async 'node-redis'(port: number): Promise<RedisClient> {
    const client = createClient({
      url: `redis://127.0.0.1:${port}`,
      pingInterval: 100,
      socket: { socketTimeout: 400, reconnectStrategy: 250 },
    })
    client.on('error', () => undefined)
    closing.push(() => client.destroy())
    await client.connect()
    return client
  },
}

async function setUp(
  connect: (port: number) => Promise<RedisClient>,
): Promise<FailingRedis & { redis: RedisStore }> {
  const failing = await startFailingRedis()
  closing.push(failing.close)
  return { ...failing, redis: new RedisStore({ client: await connect(failing.proxy.port) }) }
}

async function usedOf(redis: RedisStore, step: Step): Promise<number> {
  const { figures } = await redis.decide([step], true)
  return figures[0]!.limit - figures[0]!.remaining!
}

/** What a FallbackStore tells. */
function record(): { observe: Observer; errors: unknown[]; breaker: string[] } {
  const errors: unknown[] = []
  const breaker: string[] = []
  const observe: Observer = (event) => {
    if (event.type === 'store-failed') errors.push(event.error)
    if (event.type === 'breaker') breaker.push(event.state)
  }
  return { observe, errors, breaker }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
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
    'OF-50, T63, T10: that %s is answered for, and exact again by itself within seconds',
    async (_kind, failure) => {
      const failing = await setUp(connect)
      const { observe, errors, breaker } = record()
      const store = new FallbackStore(failing.redis, { deadlineMs: 100, observe })
      const loads = MODES.map((mode) => new Load(store, [stepOf(mode)]))
      await vi.waitFor(() => isExact(store), PATIENCE)

      await failure.fail(failing)
      if (failure.passes !== true) {
        await vi.waitFor(() => {
          for (const { degraded } of loads) expect(degraded.admitted + degraded.refused).toBeGreaterThan(50)
          expect(store.state).not.toBe('closed')
        }, PATIENCE)
      }
      await failure.mend(failing)
      await vi.waitFor(() => isExact(store), BACK)
      await Promise.all(loads.map((load) => load.stop()))
      await vi.waitFor(() => isExact(store), BACK) // a machine that stands still opens the breaker once more

      expect(errors.length).toBeGreaterThan(0)
      expect(store.state).toBe('closed')
      if (failure.passes !== true) expect([breaker[0], breaker.at(-1)]).toEqual(['open', 'closed'])
      for (const { rejected, exact, took } of loads) {
        expect([rejected, exact.refused]).toEqual([0, 0])
        expect(medianOf(took)).toBeLessThan(1_000)
      }
      const [open, closed, local] = loads as [Load, Load, Load]
      expect([open.degraded.refused, closed.degraded.admitted, local.degraded.refused]).toEqual([0, 0, 0])
      for (const [i, { exact, asked }] of loads.entries()) {
        const used = await usedOf(failing.redis, stepOf(MODES[i]!))
        expect(used).toBeLessThanOrEqual(asked)
        if (failure.forgets !== true) expect(used).toBeGreaterThanOrEqual(exact.admitted)
      }
    },
  )

  it('that is down is asked five times, and then once every half second', async () => {
    const { proxy, redis } = await setUp(connect)
    const { observe, errors } = record()
    const store = new FallbackStore(redis, { observe })
    const ask = async (): Promise<number> => {
      const began = performance.now()
      expect(await store.decide([stepOf('open')], false)).toMatchObject({ degraded: true })
      return performance.now() - began
    }
    await vi.waitFor(() => isExact(store), PATIENCE)
    errors.length = 0
    proxy.hangs = true
    for (let i = 0; i < 5; i++) await ask()
    expect([errors.length, store.state]).toEqual([5, 'open'])
    const opened = performance.now()
    while (performance.now() - opened < 1_200) {
      await ask()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const asked = errors.length - 5
    expect(asked).toBeGreaterThan(0)
    expect(asked).toBeLessThanOrEqual((performance.now() - opened) / 500)
  })

  it('that answers what no Redis would is answered for, and never believed', async () => {
    const { proxy, redis } = await setUp(connect)
    const store = new FallbackStore(redis, { deadlineMs: 100, probeEveryMs: 20 })
    const step = stepOf('closed')
    for (const reply of lies) {
      await vi.waitFor(() => isExact(store), BACK)
      proxy.lie(reply, /^EVAL/i)
      for (let i = 0; i < 5; i++) {
        const outcome = await store.decide([step], false)
        expect(outcome, reply).toMatchObject({ allowed: false, degraded: true })
      }
      proxy.lie(undefined)
    }
    await vi.waitFor(() => isExact(store), BACK)
    expect(await usedOf(redis, step)).toBeLessThanOrEqual(5 * lies.length) // what a client queued is sent later, once
  })

  it('FB-076, T09: is asked once, even when its answer is lost', async () => {
    const { proxy, redis } = await setUp(connect)
    const store = new FallbackStore(redis, { deadlineMs: 100 })
    await vi.waitFor(() => isExact(store), PATIENCE)
    await store.decide([stepOf('closed', { key: 'another' })], false) // the server knows the script from now on
    proxy.losesAnswers = true
    expect(await store.decide([stepOf('closed')], false)).toMatchObject({ allowed: false, degraded: true })
    await vi.waitFor(() => expect(proxy.lost).toBeGreaterThan(0), PATIENCE)
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
