import { storeSuite } from '@sluice/conformance'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Clock } from '../../clock.ts'
import type { Plan } from '../../core/decide/algorithm.ts'
import { planOf } from '../../core/decide/algorithms.ts'
import type { Rule } from '../../core/decide/rule.ts'
import { FakeClock, stepFor } from '../../testing.ts'
import { RedisStore } from '../redis.ts'
import type { StateName, Store } from '../store.ts'
import { type RedisServer, startRedis } from './server.test-support.ts'

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

const known = new WeakMap<Plan, Plan>()

/** The same plan by an algorithm that no twin is known of. */
function withoutTwin(plan: Plan): Plan {
  const made = known.get(plan) ?? {
    ...plan,
    kind: `twinless ${plan.kind}`,
    algorithm: { ...plan.algorithm },
  }
  known.set(plan, made)
  return made
}

const rules = new WeakMap<Rule, Rule>()

function twinless<S extends StateName>(step: S): S {
  const rule = rules.get(step.rule) ?? { ...step.rule, plan: withoutTwin(step.rule.plan) }
  rules.set(step.rule, rule)
  return { ...step, rule }
}

/** Redis, for algorithms that it has no twins of. */
function storeWithoutTwins(clock: Clock): Store<true> {
  const store = new RedisStore({ client, clock })
  return {
    async: true,
    decide: (steps, peek) => store.decide(steps.map(twinless), peek),
    settle: (charges, once) =>
      store.settle(
        charges.map((charge) => ({ ...charge, step: twinless(charge.step) })),
        once,
      ),
    reset: (state) => store.reset(twinless(state)),
    block: (state, ticks) => store.block(twinless(state), ticks),
    close: () => store.close(),
  }
}

storeSuite({ describe, it }, 'the Redis store without twins', storeWithoutTwins)

describe('Redis with an algorithm that has no twin', () => {
  const gcra = planOf({ algorithm: 'gcra', limit: 10, period: '10d' })

  it('admits of several processes together no more than the limit', async () => {
    const stores = [1, 2, 3].map(() => new RedisStore({ client, prefix: 'several' }))
    const step = stepFor(withoutTwin(planOf({ algorithm: 'fixed-window', limit: 13, period: '365d' })))
    const asked = Array.from({ length: 45 }, (_, i) => stores[i % 3]!.decide([step], false))
    const outcomes = await Promise.all(asked)
    expect(outcomes.filter(({ allowed }) => allowed)).toHaveLength(13)
  })

  it('charges beside one that has a twin both or none', async () => {
    const store = new RedisStore({ client, clock: new FakeClock(), prefix: 'mixed' })
    const steps = [
      stepFor(gcra, { namespace: 'with' }),
      stepFor(withoutTwin(gcra), { namespace: 'without', cost: 6 }),
    ]
    const remaining = async () =>
      (await store.decide(steps, true)).figures.map((figures) => figures.remaining)
    expect((await store.decide(steps, false)).allowed).toBe(true)
    expect(await remaining()).toEqual([9, 4])
    const refused = await store.decide(steps, false)
    expect([refused.allowed, ...refused.figures.map(({ allowed }) => allowed)]).toEqual([false, true, false])
    expect(await remaining()).toEqual([9, 4])
    await store.settle(steps.map((step) => ({ step, at: refused.at, change: -step.cost })))
    expect(await remaining()).toEqual([10, 10])
    for (const step of steps) await store.reset(step)
  })

  it('lets a state expire when it has recovered, and writes nothing when it refuses', async () => {
    const store = new RedisStore({ client, prefix: 'expires' })
    const step = stepFor(withoutTwin(gcra), { cost: 10 })
    const { at, figures } = await store.decide([step], false)
    const [name] = await client.keys('expires:*')
    const till = await client.pexpiretime(name!)
    expect(Math.abs(till - (at / 1_000 + figures[0]!.resetAfterMs!))).toBeLessThanOrEqual(1)
    const kept = await client.dumpBuffer(name!)
    expect((await store.decide([step], false)).allowed).toBe(false)
    expect([await client.pexpiretime(name!), await client.dumpBuffer(name!)]).toEqual([till, kept])
  })

  it('keeps a state for as long as the most patient of the rules needs that share it', async () => {
    const store = new RedisStore({ client, prefix: 'patient' })
    const five = planOf({ algorithm: 'fixed-window', limit: 5, period: '365d' })
    const none = { ...withoutTwin(planOf({ algorithm: 'fixed-window', limit: 0, period: '365d' })) }
    const enforced = stepFor(withoutTwin(five), { cost: 5 })
    await store.decide([enforced, stepFor(none, { mode: 'shadow' })], false)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await store.decide([enforced], false)).allowed).toBe(false)
  })
})
