import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AlgorithmName, algorithms, planOf } from '../core/decide/algorithms.ts'
import { stepFor } from '../testing.ts'
import { DenyCache } from './deny-cache.ts'
import { type RedisServer, startRedis } from './redis/server.test-support.ts'
import { RedisStore } from './redis.ts'
import type { Outcome, Step } from './store.ts'

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

const steps: readonly Step[] = Object.keys(algorithms).flatMap((algorithm) => {
  const plan = planOf({ algorithm: algorithm as AlgorithmName, limit: 3, period: '250ms' })
  const step = stepFor(plan, { name: algorithm, chargeId: 1 })
  return ['a', 'b', 'c'].map((key) => ({ ...step, key }))
})

/** The instant, on the server's clock, from which the request is admitted. */
function admitsAt({ at, figures: [figures] }: Outcome): number {
  return at + Math.round(figures!.retryAfterMs! * 1_000)
}

it('refuses nothing that Redis would admit, and tells the same instant from which it does', async () => {
  const bare = new RedisStore({ client })
  let repeated = 0
  const cached = new DenyCache(bare, {
    observe: ({ type }) => {
      if (type === 'repeated') repeated++
    },
  })
  const admitted = new Set<string>()
  const end = performance.now() + 2_000
  while (performance.now() < end || repeated <= 100) {
    // Each again and again, so that it is refused on a slow machine as well.
    for (const step of steps.flatMap((each) => Array<Step>(6).fill(each))) {
      const before = repeated
      const outcome = await cached.decide([step], false)
      if (outcome.allowed) admitted.add(`${step.rule.name} ${step.key}`)
      if (repeated === before) continue
      const truth = await bare.decide([step], true)
      // The truth was asked for a little later.
      if (truth.allowed) expect(truth.at).toBeGreaterThanOrEqual(admitsAt(outcome))
      else expect(admitsAt(truth)).toBe(admitsAt(outcome))
    }
  }
  expect(repeated).toBeGreaterThan(100)
  expect(admitted.size).toBe(steps.length)
})
