import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { planOf } from '../../core/decide/algorithms.ts'
import { StoreError } from '../../core/errors.ts'
import { RedisStore } from '../redis.ts'
import type { Outcome, Step } from '../store.ts'
import type { Send } from './client.ts'
import { Names } from './names.ts'
import { type RedisServer, startRedis } from './server.test-support.ts'
import { per90d, stepOf } from './steps.test-support.ts'

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

async function changes(): Promise<number> {
  return Number(/rdb_changes_since_last_save:(\d+)/.exec(await redis.info('persistence'))![1])
}

/** A store, and the commands it sends. */
function recorded(): { store: RedisStore; calls: string[][] } {
  const calls: string[][] = []
  const send: Send = (args) => {
    calls.push(args)
    return redis.call(args[0]!, args.slice(1))
  }
  return { store: new RedisStore({ send }), calls }
}

function together(store: RedisStore, steps: readonly Step[]): Promise<Outcome[]> {
  return Promise.all(steps.map((step) => store.decide([step], false)))
}

describe('Decisions in Redis', () => {
  it('of one turn of the event loop travel together, half of them at a time, and are made in order', async () => {
    const { store, calls } = recorded()
    const [step, other] = [stepOf(per90d(100)), stepOf(per90d(100))]
    await together(store, Array(40).fill({ ...step, cost: 0 }))
    calls.length = 0
    const before = await changes()
    const outcomes = await together(store, Array(20).fill([step, other]).flat())
    const left = outcomes.map(({ figures }) => figures[0]!.remaining)
    expect(left).toEqual(Array.from({ length: 40 }, (_, i) => 99 - Math.floor(i / 2)))
    expect(calls.map(([command, , keys]) => `${command} of ${keys}`)).toEqual([
      'EVALSHA of 2',
      'EVALSHA of 2',
    ])
    expect((await changes()) - before).toBe(4) // each call writes each state once
  })

  it('that come alone leave at once', async () => {
    const { store, calls } = recorded()
    const answer = store.decide([stepOf(per90d(1))], false)
    expect(calls).toHaveLength(1)
    await answer
  })

  it('fail with a StoreError, and are not asked for again when the outcome is unknown', async () => {
    const send: Send = async (args) => {
      await redis.call(args[0]!, args.slice(1))
      throw new Error('Connection is closed.')
    }
    const [broken, store] = [new RedisStore({ send }), new RedisStore({ client: redis })]
    const step = stepOf(per90d(100))
    await store.decide([{ ...step, cost: 0 }], false)
    await expect(broken.decide([step], false)).rejects.toThrow(StoreError)
    expect((await store.decide([step], true)).figures[0]!.remaining).toBe(99)
    await expect(broken.settle([{ step, at: 0, change: 1 }])).rejects.toThrow(StoreError)
    await expect(broken.reset(step)).rejects.toThrow(StoreError)
  })

  it('fail together where they travel together, whatever is wrong with one', async () => {
    const store = new RedisStore({ client: redis })
    const steps = [
      stepOf(per90d(1)),
      stepOf(planOf({ algorithm: 'sliding-window-log', limit: 1, period: '90s' })),
    ]
    await redis.rpush(new Names('sluice').of(steps[1]!).state, 'not ours')
    await together(store, Array(4).fill(stepOf(per90d(1))))
    const answers = await Promise.allSettled(steps.map((step) => store.decide([step], false)))
    await redis.del(new Names('sluice').of(steps[1]!).state)
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect((await store.decide([steps[0]!], true)).allowed).toBe(true)
  })

  it.each([
    ['nothing', null],
    ['too few', [1, 2]],
    ['no integers', ['1', 'x', '3', '4', '5', '6', '7']],
  ])('fail when %s is answered', async (_, reply) => {
    const store = new RedisStore({ send: async () => reply })
    await expect(store.decide([stepOf(per90d(1))], false)).rejects.toThrow(StoreError)
  })

  it('find their calendar window by the server’s clock, wherever the client’s stands', async () => {
    const now = performance.now
    const plan = planOf({
      algorithm: 'fixed-window',
      limit: 3,
      period: { calendar: 'day', zone: 'Asia/Kathmandu' },
    })
    const step = stepOf(plan)
    try {
      const ends: number[] = []
      for (const days of [0, -900, 900]) {
        performance.now = () => now.call(performance) + days * 86_400_000
        const store = new RedisStore({ client: redis })
        const { at, allowed, figures } = await store.decide([step], false)
        expect(allowed).toBe(true)
        ends.push(at + figures[0]!.resetAfterMs! * 1_000)
        const late = new RedisStore({ client: redis })
        expect(await late.settle([{ step: stepOf(plan), at, change: 1 }])).toBe(true)
      }
      expect(new Set(ends).size).toBe(1)
      expect((await new RedisStore({ client: redis }).decide([step], false)).allowed).toBe(false)
    } finally {
      performance.now = now
    }
  })

  it('are all answered before the store is closed, and the client stays open', async () => {
    const store = new RedisStore({ client: redis })
    const answer = store.decide([stepOf(per90d(1))], false)
    await store.close()
    expect(await Promise.race([answer, undefined])).toMatchObject({ allowed: true })
    expect(await redis.ping()).toBe('PONG')
  })

  it('need no server where no rule applies', async () => {
    const store = new RedisStore({ send: () => Promise.reject(new Error('asked')) })
    expect(await store.decide([], false)).toMatchObject({ allowed: true, figures: [] })
  })
})
