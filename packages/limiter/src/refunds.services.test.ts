import { randomUUID } from 'node:crypto'
import { formulaOf, variantsOf } from '@sluice/conformance'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { DICE, RefundWalk, SEED, WALKS, type WalkOptions } from './refunds.test-support.ts'
import { MemoryStore } from './stores/memory.ts'
import { type RedisServer, startRedis } from './stores/redis/server.test-support.ts'
import { RedisStore } from './stores/redis.ts'

const most: WalkOptions['most'] = (plan, interval) => formulaOf(plan).most(plan, interval)
let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  client = new Redis({ port: server.port, autoResendUnfulfilledCommands: false })
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

describe(`what is given back, in process and on Redis (SLUICE_SEED=${SEED})`, () => {
  it('is equal, figure by figure', { timeout: 3_600_000 }, () =>
    fc.assert(
      fc.asyncProperty(DICE, async (dice) => {
        const walk = new RefundWalk({ moves: true, period: '1s', variants: variantsOf(), most }, (clock) => [
          new MemoryStore({ clock }),
          new RedisStore({ client, clock, prefix: randomUUID() }),
        ])
        await walk.run(dice)
      }),
      { numRuns: Math.ceil(WALKS / 2), seed: SEED, endOnFailure: true },
    ),
  )
})
