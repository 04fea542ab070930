import { randomUUID } from 'node:crypto'
import { variantsOf } from '@sluice/conformance'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLimiter } from '../../limiter.ts'
import { MemoryStore } from '../../stores/memory.ts'
import { type RedisServer, startRedis } from '../../stores/redis/server.test-support.ts'
import { RedisStore } from '../../stores/redis.ts'
import { FakeClock } from '../../testing.ts'

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

const requests = fc.array(
  fc.record({ after: fc.nat({ max: 3_000 }), cost: fc.nat({ max: 4 }), back: fc.boolean() }),
  { minLength: 5, maxLength: 30 },
)

describe('OF-62 requests past a soft threshold wait on Redis', () => {
  const policy = { limit: 10, period: '10s', soft: 0.8, onLimit: 'delay' } as const

  it.each(variantsOf((name) => !['leaky-bucket', 'concurrency'].includes(name)))(
    'as long as in process: $name',
    async (variant) => {
      let delayed = 0
      const run = fc.asyncProperty(
        requests,
        fc.double({ min: 0.05, max: 0.95, noNaN: true }),
        async (asked, soft) => {
          const clock = new FakeClock()
          const policies = { p: { ...variant.policy, ...policy, soft } }
          const inProcess = createLimiter({ policies, store: new MemoryStore({ clock }) })
          const shared = createLimiter({
            policies,
            store: new RedisStore({ client, clock, prefix: randomUUID() }),
          })
          for (const { after, cost, back } of asked) {
            clock.advance(after)
            const [own, other] = [inProcess.check('ada', { cost }), await shared.check('ada', { cost })]
            expect(JSON.parse(JSON.stringify(other))).toEqual(JSON.parse(JSON.stringify(own)))
            if (other.delayMs > 0) delayed++
            if (!back) continue
            inProcess.refund(own)
            await shared.refund(other)
          }
        },
      )
      await fc.assert(run, { numRuns: 15, seed: 62 })
      expect(delayed).toBeGreaterThan(10)
    },
  )

  it('by the server’s own clock', async () => {
    const store = new RedisStore({ client, prefix: randomUUID() })
    const slow = createLimiter({
      store,
      policies: { p: { algorithm: 'fixed-window', ...policy, period: '365d' } },
    })
    const delays: number[] = []
    for (let i = 0; i < 10; i++) delays.push((await slow.check('ada')).delayMs)
    const day = 86_400_000
    expect(delays).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 36.5 * day, 73 * day])
    expect((await slow.check('ada')).allowed).toBe(false)
  })
})
