import { variantsOf } from '@sluice/conformance'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Plan } from '../core/decide/algorithm.ts'
import { type AlgorithmName, algorithms, type Policy, planOf } from '../core/decide/algorithms.ts'
import { type Rule, type RuleOptions, ruleOf } from '../core/decide/rule.ts'
import { ConfigError } from '../core/errors.ts'
import { FakeClock } from '../testing.ts'
import { MemoryStore } from './memory.ts'
import { PrefetchStore } from './prefetch.ts'
import { type RedisServer, startRedis } from './redis/server.test-support.ts'
import { RedisStore } from './redis.ts'
import type { Charge, Step, Store } from './store.ts'

/** Walks of each algorithm; SLUICE_CHANGES asks for more. */
const WALKS = Number(process.env.SLUICE_CHANGES ?? 25)
const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)

const DAY = 86_400_000_000
/** Periods in microseconds, and the largest limits that plans can count in each unit of time. */
const PERIODS = [
  { period: DAY, edges: [104_249, 104_249_991] },
  { period: 3_600_000_000, edges: [2_501_999, 2_501_999_792] },
  { period: 1_000_000, edges: [9_007_199_254, 9_007_199_254_740] },
]
const ROLES: readonly RuleOptions[] = [
  {},
  { quota: true },
  { mode: 'shadow' },
  { onLimit: 'deprioritize' },
  { prefetch: 2 },
  { prefetch: 50 },
]

const units = fc.oneof(
  fc.record({ edge: fc.nat(1), off: fc.integer({ min: -2, max: 3 }) }),
  fc.integer({ min: 0, max: 200 }),
  fc.constant(undefined),
)
const change = fc.record({
  limit: units,
  burst: units,
  variant: fc.nat(3),
  role: fc.nat(ROLES.length - 1),
  phase: fc.constantFrom(0, 0, 400_000, 900_001),
})
const act = fc.oneof(
  { weight: 3, arbitrary: fc.record({ share: fc.integer({ min: 0, max: 4 }), units: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ elapsed: fc.double({ min: 0, max: 1.2, noNaN: true }) }) },
  { weight: 2, arbitrary: fc.record({ change }) },
  { weight: 1, arbitrary: fc.record({ giveBack: fc.nat(20) }) },
)
const journey = fc.record({
  scale: fc.nat(PERIODS.length - 1),
  start: fc.nat(999_999),
  acts: fc.array(act, { minLength: 4, maxLength: 24 }),
})
type Journey = typeof journey extends fc.Arbitrary<infer T> ? T : never
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never
type Units = typeof units extends fc.Arbitrary<infer T> ? T : never

/** How a rule reads after a change: its algorithm and period stay, all else may differ. */
interface Version {
  readonly rule: Rule
  readonly phase: number
}

function versionOf(
  variants: readonly Policy[],
  { period, edges }: (typeof PERIODS)[number],
  to: Change,
): Version {
  const policy = variants[to.variant % variants.length]!
  const numberOf = (value: Units): number | undefined =>
    typeof value === 'object' ? edges[value.edge]! + value.off : value
  const burst = 'burst' in algorithms[policy.algorithm].options ? numberOf(to.burst) : undefined
  for (const limit of [numberOf(to.limit) ?? 100, 100]) {
    for (const own of [burst === undefined ? {} : { burst: Math.max(1, burst) }, {}]) {
      for (const role of [ROLES[to.role]!, {}]) {
        try {
          const plan = planOf({ ...policy, ...own, limit, period: `${period}us` })
          const phase = plan.algorithm.traits.aligned ? to.phase : 0
          return { rule: ruleOf('p', 'p', plan, role), phase }
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error
        }
      }
    }
  }
  throw new Error('no plan of 100 units fits')
}

/**
 * What is in use, as far as what was asked and answered tells: at least `least`, at most `most`. A change of the rule
 * changes neither.
 */
class Usage {
  #least = 0
  #most = 0
  /** The same at the last charge. */
  #charged = { at: 0, least: 0, most: 0 }
  readonly #charges: { readonly at: number; readonly units: number }[] = []

  /** @param ahead units that a lease may hold besides */
  check(remaining: number, capacity: number, ahead: number): void {
    const fewest = Math.max(0, capacity - this.#most - ahead - 1)
    const highest = Math.max(0, capacity - this.#least)
    if (remaining < fewest || remaining > highest)
      throw new Error(
        `${remaining} of ${capacity} remain, where ${this.#least} to ${this.#most} are in use: ${fewest} to ${highest}`,
      )
    if (ahead > 0) return
    this.#least = Math.max(this.#least, capacity - remaining)
    if (remaining > 0) this.#most = Math.min(this.#most, capacity - remaining)
  }

  charge(at: number, charged: number): void {
    this.#charges.push({ at, units: charged })
    this.#least += charged
    this.#most += charged
    this.#charged = { at, least: this.#least, most: this.#most }
  }

  giveBack(given: number): void {
    this.#least = Math.max(0, this.#least - given)
    this.#charged.least -= given
  }

  pass(): void {
    this.#least = 0
  }

  /** What has flowed since the last charge counts by the new rate, from at most what the new plan can count. */
  flow(now: number, { ceiling, limit, period, unit, source }: Plan): void {
    const { at, least, most } = this.#charged
    if (at === now) return
    const periods = (now - at + unit) / (period * unit)
    const arrives = source !== undefined && 'refill' in source
    this.#least = Math.max(
      0,
      Math.min(least, ceiling) - Math.ceil((arrives ? Math.floor(periods) + 1 : periods) * limit),
    )
    this.#most = most
  }

  /**
   * A weight that is rounded otherwise may be one less, or more, and as much as it loses in one unit of time.
   * @param share of the period that the larger unit is
   */
  round(share: number): void {
    const all = this.#charges.reduce((total, { units }) => total + units, 0)
    const off = 1 + Math.ceil(all * share)
    this.#least = Math.max(0, this.#least - off)
    this.#most += off
  }

  /** Other windows: what was charged in the old one and the new one counts, and all that was charged may. */
  spread(since: number): void {
    const sum = (from: number): number =>
      this.#charges.reduce((total, { at, units }) => (at >= from ? total + units : total), 0)
    this.#least = Math.min(this.#least, sum(since))
    this.#most = sum(0)
  }
}

function flows({ algorithm: { name } }: Plan): boolean {
  return 'burst' in algorithms[name as AlgorithmName].options
}

/** Walks through a journey. @returns what the store told on the way, where no lease was in between */
async function walk(make: (clock: FakeClock) => Store, variants: readonly Policy[], journey: Journey) {
  const scale = PERIODS[journey.scale]!
  const clock = new FakeClock(1_767_225_600_000_000 + journey.start)
  const store = make(clock)
  const leases = new PrefetchStore(store, { nodes: 1, idleMs: 3_600_000, now: () => clock.now() / 1_000 })
  const usage = new Usage()
  const charges: Charge[] = []
  const told: unknown[] = []
  const first: Change = { limit: 100, burst: undefined, variant: 0, role: 0, phase: 0 }
  let version = versionOf(variants, scale, first)
  let ahead = 0
  let chargeId = 0
  const step = (cost: number): Step => ({ ...version, key: 'k', cost, chargeId: ++chargeId })
  const look = async (): Promise<number> => {
    const { figures } = await store.decide([step(0)], true)
    const { remaining } = figures[0]!
    usage.check(remaining!, version.rule.plan.capacity, ahead)
    told.push(ahead > 0 ? undefined : figures)
    return remaining!
  }
  /** Leases give back what they hold, so that all that is in use can be counted. */
  const settleLeases = async (): Promise<void> => {
    await leases.release()
    ahead = 0
  }
  for (const act of journey.acts) {
    const remaining = await look()
    if ('share' in act) {
      const own = step(Math.min(remaining, Math.floor((remaining * act.share) / 4) + act.units))
      const outcome = await leases.decide([own], false)
      const charged = outcome.allowed && outcome.figures[0]!.allowed && own.cost > 0
      if (charged) {
        usage.charge(clock.now(), own.cost)
        charges.push({ step: own, at: clock.now(), change: -own.cost })
      }
      ahead = Math.max(ahead, version.rule.prefetch ?? 0)
    } else if ('elapsed' in act) {
      await settleLeases()
      clock.advance((act.elapsed * scale.period) / 1_000)
      usage.pass()
    } else if ('giveBack' in act) {
      const charge = charges.splice(act.giveBack % Math.max(1, charges.length), 1)[0]
      if (charge === undefined) continue
      await store.settle([charge])
      usage.giveBack(-charge.change)
    } else {
      if (act.change.role % 2 === 0) await settleLeases()
      await look()
      const before = version
      version = versionOf(variants, scale, act.change)
      if (before.phase !== version.phase) {
        const opened = [before, version].map(
          ({ phase }) => clock.now() - ((clock.now() - phase) % scale.period),
        )
        usage.spread(Math.max(...opened))
      }
      // What counted whole may have become a weight, in other windows as well.
      if (version.rule.plan.algorithm.name === 'sliding-window-counter')
        usage.round(Math.max(before.rule.plan.unit, version.rule.plan.unit) / scale.period)
      else if (flows(version.rule.plan)) usage.flow(clock.now(), version.rule.plan)
    }
  }
  await settleLeases()
  await look()
  return told
}

let server: RedisServer
let client: Redis
let walks = 0

beforeAll(async () => {
  server = await startRedis()
  client = new Redis({ port: server.port, autoResendUnfulfilledCommands: false })
})

afterAll(async () => {
  client.disconnect()
  await server.stop()
})

const ALGORITHMS = new Map<string, Policy[]>()
for (const { policy } of variantsOf()) {
  const variants = ALGORITHMS.get(policy.algorithm) ?? []
  ALGORITHMS.set(policy.algorithm, [...variants, policy as Policy])
}

describe(`OF-01: a changed rule keeps what was used (SLUICE_SEED=${SEED})`, () => {
  it.each([...ALGORITHMS])('by %s, in both stores alike', { timeout: 3_600_000 }, async (_, variants) => {
    const property = fc.asyncProperty(journey, async (each) => {
      const memory = await walk((clock) => new MemoryStore({ clock }), variants, each)
      const prefix = `changes-${++walks}`
      const redis = await walk((clock) => new RedisStore({ client, clock, prefix }), variants, each)
      expect(redis).toEqual(memory)
    })
    await fc.assert(property, { numRuns: WALKS, seed: SEED })
  })
})
