import { setTimeout as sleep } from 'node:timers/promises'
import { variantsOf } from '@sluice/conformance'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { algorithms, type Policy, planOf } from '../core/decide/algorithms.ts'
import { type Rule, type RuleOptions, ruleOf } from '../core/decide/rule.ts'
import { FakeClock } from '../testing.ts'
import { MemoryStore } from './memory.ts'
import { type RedisServer, startRedis } from './redis/server.test-support.ts'
import { RedisStore } from './redis.ts'
import type { Outcome, Step, Store } from './store.ts'
import { MapStore } from './trials/map-store.test-support.ts'

/** Requests of each rule; SLUICE_MOMENTS asks for more. */
const MOMENTS = Number(process.env.SLUICE_MOMENTS ?? 20)
const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)
/** Keys that keep a store in process deleting: with fewer than a thousand it deletes nothing. */
const OTHERS = 1_100

const BLOCK: RuleOptions = { block: { after: 2, within: '60ms', for: '90ms' } }
const SPREAD = 7_777
const LIMITS: readonly { readonly limit: number; readonly burst?: number; readonly period: number }[] = [
  { limit: 5, period: 40 },
  { limit: 3, burst: 9, period: 25 },
  { limit: 2, period: 160 },
]

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

/** A store with what never forgets beside it, which is asked at the very instants of the store's own clock. */
class Twin {
  readonly #store: Store
  readonly #clock = new FakeClock()
  readonly #map = new MapStore(this.#clock)

  constructor(store: Store) {
    this.#store = store
  }

  async ask(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    const told = await this.#store.decide(steps, peek)
    this.#clock.set(told.at)
    expect(told).toEqual(this.#map.decide(steps, peek))
    return told
  }
}

function rules(): readonly Rule[] {
  return variantsOf().flatMap(({ policy, name }) =>
    LIMITS.flatMap(({ limit, burst, period }) =>
      [{}, BLOCK].map((options) => {
        const own = burst !== undefined && 'burst' in algorithms[policy.algorithm].options ? { burst } : {}
        const plan = planOf({ ...(policy as Policy), ...own, limit, period })
        return ruleOf(name, `${name} ${limit} ${'block' in options}`, plan, options)
      }),
    ),
  )
}

/** Asks by one rule at random moments: at once, within a period, and long after everything has expired. */
async function visit(rule: Rule, twin: Twin, random: () => number): Promise<void> {
  const { plan } = rule
  const period = plan.period / 1_000
  const phase = plan.algorithm.traits.aligned && random() < 0.5 ? SPREAD : 0
  for (let i = 1; i <= MOMENTS; i++) {
    const cost = random() < 0.3 ? Math.ceil(random() * (plan.capacity + 1)) : 1
    const step = { rule, key: random() < 0.8 ? 'a' : 'b', cost, phase, chargeId: i }
    await twin.ask([step], random() < 0.1)
    const pause = random()
    if (pause < 0.4) continue
    await sleep(pause < 0.8 ? random() * period : period * (1 + (pause - 0.8) * 10) + plan.capacity)
  }
}

describe(`OF-04: stores keep and drop alike, by their own clocks (SLUICE_SEED=${SEED})`, () => {
  const makers: readonly (readonly [string, () => Store])[] = [
    ['in process', () => new MemoryStore()],
    ['Redis', () => new RedisStore({ client, prefix: 'own-clocks' })],
  ]
  it.each(makers)('%s answers as what never drops anything', { timeout: 3_600_000 }, async (_, make) => {
    const twin = new Twin(make())
    const other = ruleOf('others', 'others', planOf({ algorithm: 'gcra', limit: 1, period: '1d' }))
    for (let i = 0; i < OTHERS; i++) await twin.ask([{ rule: other, key: `${i}`, cost: 1 }], false)
    const visits = rules().map((rule, i) => visit(rule, twin, randomOf(SEED + i)))
    await Promise.all(visits)
  })
})

/** Numbers from 0 up to 1, the same for the same seed: xorshift. */
function randomOf(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 4_294_967_296
  }
}
