import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Policy, planOf } from '../../core/decide/algorithms.ts'
import { FakeClock } from '../../testing.ts'
import { MemoryStore } from '../memory.ts'
import { RedisStore } from '../redis.ts'
import type { Step } from '../store.ts'
import { Names } from './names.ts'
import { type RedisServer, startRedis } from './server.test-support.ts'
import { per90d, stepOf } from './steps.test-support.ts'

const POLICIES: readonly Policy[] = [
  { algorithm: 'token-bucket', limit: 5, period: '90d' },
  { algorithm: 'token-bucket', limit: 5, period: '90d', refill: 'interval' },
  { algorithm: 'gcra', limit: 5, period: '90d' },
  { algorithm: 'leaky-bucket', limit: 5, period: '90d' },
  { algorithm: 'fixed-window', limit: 5, period: '90d' },
  { algorithm: 'fixed-window', limit: 5, period: { calendar: 'month', zone: 'Europe/Paris' } },
  { algorithm: 'sliding-window-log', limit: 5, period: '90d' },
  { algorithm: 'sliding-window-counter', limit: 5, period: '90d' },
  { algorithm: 'concurrency', limit: 5, period: '90d' },
]
const PLANS = POLICIES.map((policy) => [planOf(policy).kind, planOf(policy)] as const)

let server: RedisServer
let redis: Redis

beforeAll(async () => {
  server = await startRedis()
  redis = new Redis({ port: server.port, autoResendUnfulfilledCommands: false })
})

afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

function nameOf(step: Step): string {
  return new Names('sluice').of(step).state
}

/** All that Redis keeps of a state: the time it expires at, and its bytes. */
async function keptOf(step: Step): Promise<unknown[]> {
  const name = nameOf(step)
  return [await redis.pexpiretime(name), await redis.dumpBuffer(name)]
}

async function changes(): Promise<number> {
  return Number(/rdb_changes_since_last_save:(\d+)/.exec(await redis.info('persistence'))![1])
}

describe('A state in Redis', () => {
  it.each(PLANS)(
    'expires when it means nothing any more, to the millisecond, never early: %s',
    async (_, plan) => {
      const store = new RedisStore({ client: redis })
      for (const phase of plan.algorithm.name === 'fixed-window' ? [0, 12_345_678] : [0]) {
        const step = stepOf(plan, { cost: 2, phase })
        const { at, figures } = await store.decide([step], false)
        const full = Math.ceil((at + figures[0]!.resetAfterMs! * 1_000) / 1_000)
        expect(await redis.pexpiretime(nameOf(step))).toBe(full)
        await store.settle([{ step, at, change: -1 }])
        const after = await store.decide([step], true)
        const due = Math.ceil((after.at + after.figures[0]!.resetAfterMs! * 1_000) / 1_000)
        expect(Math.abs((await redis.pexpiretime(nameOf(step))) - due)).toBeLessThanOrEqual(1)
      }
    },
  )

  it.each(PLANS)(
    'stays as it is, byte for byte, when a request is refused or only looks: %s',
    async (_, plan) => {
      const store = new RedisStore({ client: redis })
      const step = stepOf(plan, { cost: 3 })
      await store.decide([step], false)
      const [kept, before] = [await keptOf(step), await changes()]
      const other = stepOf(plan)
      for (const cost of [3, 6]) {
        const refused = { ...step, cost }
        expect((await store.decide([refused], false)).allowed).toBe(false)
        expect((await store.decide([other, refused], false)).allowed).toBe(false)
      }
      await store.decide([step], true)
      await store.decide(
        [
          { ...step, cost: 0 },
          { ...other, cost: 0 },
        ],
        false,
      )
      expect(await keptOf(step)).toEqual(kept)
      expect(await changes()).toBe(before)
    },
  )

  it('is kept by blocks alone of a refused request, and expires too', async () => {
    const store = new RedisStore({ client: redis })
    const step = stepOf(per90d(0), { block: { after: 2, within: '30s', for: '5m' } })
    const { state, block } = new Names('sluice').of(step)
    const { at } = await store.decide([step], false)
    expect(await redis.pexpiretime(block!)).toBe(Math.ceil(at / 1_000 + 30_000))
    expect(await redis.exists(state)).toBe(0)
  })

  it('is not brought into being by giving back, nor by asking at no cost (T13)', async () => {
    const store = new RedisStore({ client: redis })
    for (const [, plan] of PLANS) {
      const step = stepOf(plan, { cost: 0 })
      expect(await store.settle([{ step, at: Date.now() * 1_000, change: -1 }])).toBe(true)
      expect((await store.decide([step], false)).allowed).toBe(true)
      expect(await redis.exists(nameOf(step))).toBe(0)
    }
  })

  it('is there to be counted when it means something for milliseconds only (FB-053)', async () => {
    const store = new RedisStore({ client: redis })
    const step = stepOf(planOf({ algorithm: 'gcra', limit: 1_000, period: '60s' }))
    const clock = new FakeClock()
    const twin = new MemoryStore({ clock })
    for (const { at, figures } of await Promise.all([1, 2, 3].map(() => store.decide([step], false)))) {
      clock.set(at)
      expect(figures).toEqual(twin.decide([step], false).figures)
    }
    // 180 ms from some microsecond on, rounded up to a whole millisecond of the clock.
    expect(await redis.pttl(nameOf(step))).toBeLessThanOrEqual(181)
  })

  it('expires after a century at the latest, where nothing refills it', async () => {
    const store = new RedisStore({ client: redis })
    const step = stepOf(planOf({ algorithm: 'token-bucket', limit: 0, burst: 3, period: '1s' }))
    expect((await store.decide([step], false)).figures[0]!.resetAfterMs).toBeNull()
    expect((await redis.pttl(nameOf(step))) / 86_400_000).toBeCloseTo(36_525, 1)
  })

  it('never is without an expiry', async () => {
    expect(await redis.dbsize()).toBeGreaterThan(20)
    for (const name of await redis.keys('*')) expect(await redis.pexpiretime(name), name).not.toBe(-1)
  })

  it('is named so that nothing of its key shows, chooses a slot, or makes it longer', () => {
    const names = ['k', '{k}', 'a}{b', 'k\r\nDEL x', '🙂', '\ud83d', '\ude42', 'x'.repeat(10_240)].map(
      (key) => nameOf(stepOf(per90d(1), { key })),
    )
    for (const name of names) expect(name).toMatch(/^sluice:\{[\w-]{22}\}:[\w-]{11}$/)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each([PLANS[2]!, PLANS[5]!])(
    'takes up to 200 bytes, name and all: %s',
    { timeout: 60_000 },
    async (_, plan) => {
      const own = await startRedis()
      const client = new Redis({ port: own.port, autoResendUnfulfilledCommands: false })
      const store = new RedisStore({ client })
      const used = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))![1])
      await store.decide([stepOf(plan), stepOf(plan)], false)
      const before = await used()
      for (let i = 0; i < 100_000; i += 1_000) {
        await Promise.all(
          Array.from({ length: 1_000 }, (_, j) => store.decide([stepOf(plan, { key: `${i + j}` })], false)),
        )
      }
      const bytes = ((await used()) - before) / 100_000
      client.disconnect()
      await own.stop()
      expect(bytes).toBeLessThanOrEqual(200)
    },
  )
})
