import { variantsOf } from '@sluice/conformance'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Plan } from '../../core/decide/algorithm.ts'
import { algorithms, type Policy, planOf } from '../../core/decide/algorithms.ts'
import { MAX } from '../../core/decide/integers.ts'
import type { Option } from '../../core/decide/option.ts'
import { type Rule, type RuleOptions, ruleOf } from '../../core/decide/rule.ts'
import { holdsSlots } from '../../core/decide/step.ts'
import { twins } from '../../core/decide/twins.ts'
import { ConfigError } from '../../core/errors.ts'
import { FakeClock } from '../../testing.ts'
import { RedisStore } from '../redis.ts'
import type { Charge, Once, Step } from '../store.ts'
import { MapStore } from '../trials/map-store.test-support.ts'
import { type RedisServer, startRedis } from './server.test-support.ts'

/** Requests and corrections in all; SLUICE_DIFFERENTIAL_STEPS asks for more: a million at most, or the clock passes 2^53. */
const STEPS = Number(process.env.SLUICE_DIFFERENTIAL_STEPS ?? 20_000)
const SEED = Number(process.env.SLUICE_DIFFERENTIAL_SEED ?? 1)

/** Policies that share a name share their counters where their algorithm and period are the same. */
const POLICIES: Readonly<Record<string, readonly Policy[]>> = {
  bucket: [
    { algorithm: 'token-bucket', limit: 7, period: '3s' },
    { algorithm: 'token-bucket', limit: 3, period: '3s', burst: 20 },
    { algorithm: 'gcra', limit: 7, period: '3s' },
    { algorithm: 'leaky-bucket', limit: 7, period: '3s', burst: 10 },
  ],
  spent: [
    { algorithm: 'token-bucket', limit: 0, period: '1s', burst: 50 },
    { algorithm: 'leaky-bucket', limit: 0, period: '1s', burst: 50 },
    { algorithm: 'token-bucket', limit: 0, period: '1s' },
  ],
  coarse: [
    { algorithm: 'gcra', limit: 86_400_000, period: '1d' },
    { algorithm: 'token-bucket', limit: 90_000_000_000, period: '1d', burst: 100_000_000_000 },
    { algorithm: 'sliding-window-counter', limit: 86_400_007, period: '1d' },
  ],
  interval: [
    { algorithm: 'token-bucket', refill: 'interval', limit: 5, period: '2s', burst: 13 },
    { algorithm: 'token-bucket', refill: 'interval', limit: 3, period: '2s' },
    { algorithm: 'token-bucket', refill: 'interval', limit: 0, period: '2s', burst: 4 },
    { algorithm: 'token-bucket', refill: 'interval', limit: 1, period: '1d', burst: 40_000_000_000 },
  ],
  window: [
    { algorithm: 'fixed-window', limit: 10, period: '5s' },
    { algorithm: 'fixed-window', limit: 25, period: '5s' },
    { algorithm: 'fixed-window', limit: MAX, period: '1us' },
  ],
  calendar: [
    { algorithm: 'fixed-window', limit: 9, period: { calendar: 'day', zone: 'Africa/Cairo' } },
    { algorithm: 'fixed-window', limit: 30, period: { calendar: 'week', anchor: { day: 3, time: '06:30' } } },
    {
      algorithm: 'fixed-window',
      limit: 100,
      period: { calendar: 'month', zone: 'Europe/Paris', anchor: { day: 31 } },
    },
    { algorithm: 'fixed-window', limit: 500, period: { calendar: 'year', zone: 'Australia/Lord_Howe' } },
  ],
  counter: [
    { algorithm: 'sliding-window-counter', limit: 10, period: '5s' },
    { algorithm: 'sliding-window-counter', limit: 10, period: '5s', rounding: 'up' },
    { algorithm: 'sliding-window-counter', limit: 4, period: '5s' },
  ],
  log: [
    { algorithm: 'sliding-window-log', limit: 12, period: '4s' },
    { algorithm: 'sliding-window-log', limit: 300, period: '1h' },
    { algorithm: 'sliding-window-log', limit: MAX - 7, period: '4s' },
  ],
  slots: [
    { algorithm: 'concurrency', limit: 6, period: '20s' },
    { algorithm: 'concurrency', limit: 200, period: '1h' },
  ],
}
const BLOCKS: readonly RuleOptions[] = [
  { block: { after: 3, within: '2s', for: '7s' } },
  { block: { after: 1, within: '1s', for: '1d' } },
  { blockable: true },
]
/** Milliseconds for which blocks count, and last. */
const EDGES = [1_000, 2_000, 7_000]
const ROLES: readonly RuleOptions[] = [
  {},
  {},
  { quota: true },
  { mode: 'shadow' },
  { onLimit: 'deprioritize' },
]

/** More entries than one block of a log holds, and more slots than one reading of them. */
const LONG: Readonly<Record<string, readonly Policy[]>> = {
  log: [
    { algorithm: 'sliding-window-log', limit: 900, period: '1h' },
    { algorithm: 'sliding-window-log', limit: 300, period: '1h' },
  ],
  slots: [{ algorithm: 'concurrency', limit: 250, period: '1h' }],
}

/** Whose states the steps are about, and how much time passes between them, in milliseconds. */
interface World {
  readonly states: readonly (readonly [namespace: string, plan: Plan])[]
  readonly keys: readonly string[]
  /** Rules made so far, by their state and options. */
  readonly rules: Map<string, Rule>
  readonly elapsed: (random: Random) => number
  /** Likelihood that a step sets or ends a block. */
  readonly blocks: number
  /** Likelihood that a step in fifty is a reset. */
  readonly resets: number
}

type Random = () => number

function statesOf(policies: Readonly<Record<string, readonly Policy[]>>): World['states'] {
  return Object.entries(policies).flatMap(([name, each]) =>
    each.map((policy) => [name, planOf(policy)] as const),
  )
}

/** A few policies for every algorithm that there is, with each combination of its choices. */
function generated(random: Random): Readonly<Record<string, readonly Policy[]>> {
  return Object.fromEntries(
    variantsOf().map(({ name, policy }) => {
      const periods = [periodOf(random), periodOf(random)]
      return [name, [0, 1, 0, 1].map((i) => acceptedOf(random, { ...policy, period: periods[i]! }))]
    }),
  )
}

function acceptedOf(random: Random, policy: Omit<Policy, 'limit'>): Policy {
  for (;;) {
    const own = { ...policy, ...unitsOf(random, policy.algorithm) }
    try {
      planOf(own)
      return own
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
    }
  }
}

/** A limit, and mostly a value for each option that is a number. */
function unitsOf(random: Random, algorithm: Policy['algorithm']): { readonly limit: number } {
  const units = (least: number): number => least + whole(random, 0, anyOf(random, [3, 20, 300, 1e6]))
  const numbers = Object.entries<Option>(algorithms[algorithm].options).flatMap(([name, option]) =>
    option.type === 'whole' && random() < 0.7 ? [[name, units(option.least)]] : [],
  )
  return { limit: units(0), ...Object.fromEntries(numbers) }
}

/** From milliseconds to days, mostly of some seconds. */
function periodOf(random: Random): string {
  return `${whole(random, 1, 5_000)}${random() < 0.8 ? 'ms' : anyOf(random, ['us', 's', 'm'])}`
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

describe(`The algorithms in Lua answer as those in TypeScript (SLUICE_DIFFERENTIAL_SEED=${SEED})`, () => {
  const states = [...statesOf(POLICIES), ...statesOf(generated(randomOf(SEED)))]

  it('each of them', () => {
    const tried = new Set(states.map(([, plan]) => plan.algorithm))
    const missing = [...twins.keys()].filter((algorithm) => !tried.has(algorithm))
    expect(missing.map(({ name }) => name)).toEqual([])
  })

  it(`over ${STEPS} random steps`, { timeout: 3_600_000 }, () =>
    differ(STEPS, {
      states,
      keys: ['a', 'b', '{c}', 'd\u0000'],
      rules: new Map(),
      elapsed: (random) => Math.abs(elapsed(random)),
      blocks: 0.04,
      resets: 1,
    }),
  )

  it('where the clock also steps back', { timeout: 3_600_000 }, () =>
    differ(STEPS / 2, {
      states,
      keys: ['a', 'b', '{c}', 'd\u0000'],
      rules: new Map(),
      elapsed,
      blocks: 0.04,
      resets: 1,
    }),
  )

  it('where states are long', () =>
    differ(10_000, {
      states: statesOf(LONG),
      keys: ['a'],
      rules: new Map(),
      elapsed: (random) => (random() < 0.1 ? anyOf(random, EDGES) : random() * 10_000),
      blocks: 0.04,
      resets: 0.1,
    }))

  it('where one key is blocked again and again', () =>
    differ(5_000, {
      states: statesOf({ window: [{ algorithm: 'fixed-window', limit: 1, period: '3s' }] }),
      keys: ['a'],
      rules: new Map(),
      elapsed: (random) => (random() < 0.5 ? anyOf(random, EDGES) : random() * 1_500),
      blocks: 0.2,
      resets: 1,
    }))
})

/**
 * Compares Redis, where nothing expires under a clock of its own, with the run over a map, which deletes nothing either:
 * what limits mean to states that others of them have long forgotten is seen as well.
 */
async function differ(total: number, world: World): Promise<void> {
  const random = randomOf(SEED)
  const clock = new FakeClock(1_774_700_000_000_000) // three days before clocks change in Europe
  const memory = new MapStore(clock)
  const redis = new RedisStore({ client, clock, prefix: `differential-${walks++}` })
  const charges: Charge[] = []
  for (const [namespace, plan] of world.states) {
    const rule = ruleOf(namespace, namespace, plan)
    for (const key of plan.capacity === 0 ? [] : world.keys) {
      const steps: Step[] = [{ rule, key, cost: 1, chargeId: 1 }]
      expect(await redis.decide(steps, false)).toEqual(memory.decide(steps, false))
    }
  }
  for (let done = 0; done < total; ) {
    if (random() < 0.5) clock.advance(world.elapsed(random))
    const kind = random()
    const expected: unknown[] = []
    const answers: Promise<unknown>[] = []
    if (kind < 0.7 || charges.length === 0) {
      for (let together = whole(random, 1, 8); together > 0; together--, done++) {
        const steps = requestOf(random, world)
        const peek = random() < 0.1
        const outcome = memory.decide(steps, peek)
        expected.push(outcome)
        answers.push(redis.decide(steps, peek))
        if (!peek) remember(charges, steps, outcome.at, random)
      }
    } else if (kind < 0.98 - world.blocks) {
      done++
      const settled = settlementOf(random, charges)
      const once = random() < 0.3 ? onceOf(random, clock) : undefined
      expected.push(memory.settle(settled, once))
      answers.push(redis.settle(settled, once))
    } else if (kind < 0.98) {
      done++
      let step = stepOf(random, world)
      while (step.rule.block === undefined) step = stepOf(random, world)
      const ticks = random() < 0.5 ? 0 : whole(random, 1, 10_000_000)
      expected.push(memory.block(step, ticks))
      answers.push(redis.block(step, ticks))
    } else if (random() < world.resets) {
      done++
      const step = stepOf(random, world)
      expected.push(memory.reset(step))
      answers.push(redis.reset(step))
    }
    const said = await Promise.all(answers)
    if (JSON.stringify(said) !== JSON.stringify(expected)) expect(said, `at ${clock.now()}`).toEqual(expected)
  }
}

/** One in three of those that may refuse can block. */
function anyRule(random: Random, { states, rules }: World): Rule {
  const state = whole(random, 0, states.length - 1)
  const role = anyOf(random, ROLES)
  const blocks = role.onLimit === undefined && random() < 0.3
  const options = { ...role, ...(blocks ? anyOf(random, BLOCKS) : undefined) }
  const name = JSON.stringify([state, options])
  const [namespace, plan] = states[state]!
  const rule = rules.get(name) ?? ruleOf(namespace, namespace, plan, options)
  rules.set(name, rule)
  return rule
}

function stepOf(random: Random, world: World): Step {
  const { keys } = world
  const rule = anyRule(random, world)
  const { capacity } = rule.plan
  const index = whole(random, 0, keys.length - 1)
  const holds = holdsSlots({ rule })
  const cost =
    random() < 0.7
      ? whole(random, 0, 3)
      : anyOf(random, [capacity, capacity + 1, Math.ceil(capacity / 2), MAX])
  return {
    rule,
    key: keys[index]!,
    cost: Math.min(cost, MAX),
    ...(index === 1 && rule.plan.algorithm.traits.aligned ? { phase: 1_234_567 } : undefined),
    ...(holds ? { chargeId: whole(random, 1, MAX) } : undefined),
  }
}

/** Up to four steps. One state may stand in several roles, but in none twice: such steps have been merged. */
function requestOf(random: Random, world: World): Step[] {
  const steps: Step[] = []
  const taken = new Set<string>()
  for (let n = whole(random, 1, 4); n > 0; n--) {
    const step = stepOf(random, world)
    const { namespace, plan, role } = step.rule
    const state = `${namespace} ${plan.kind} ${step.key} ${role}`
    if (taken.has(state)) continue
    taken.add(state)
    steps.push(step)
  }
  return steps
}

function remember(charges: Charge[], steps: readonly Step[], at: number, random: Random): void {
  for (const step of steps) charges.push({ step, at, change: 0 })
  while (charges.length > 100) charges.splice(whole(random, 0, charges.length - 1), 1)
}

function settlementOf(random: Random, charges: readonly Charge[]): Charge[] {
  const settled: Charge[] = []
  for (let n = whole(random, 1, 3); n > 0; n--) {
    const charge = anyOf(random, charges)
    const holds = holdsSlots(charge.step)
    const change = random() < 0.5 ? -charge.step.cost : whole(random, holds ? -3 : -10, holds ? 0 : 10)
    settled.push({ ...charge, change })
  }
  return settled
}

function onceOf(random: Random, clock: FakeClock): Once {
  const id = String(whole(random, 0, 1e12))
  return { id, until: clock.now() + whole(random, -1, 1) * 1_000 }
}

/** Mostly a little, now and then years or until something is just over, and sometimes back. */
function elapsed(random: Random): number {
  const kind = random()
  if (kind < 0.1) return -random() * 10_000
  if (kind < 0.15) return random() * 86_400_000 * 3
  if (kind < 0.152) return random() * 86_400_000 * 400
  if (kind < 0.25) return anyOf(random, EDGES)
  return random() * anyOf(random, [0.01, 100, 3_000, 10_000])
}

function anyOf<T>(random: Random, all: readonly T[]): T {
  return all[whole(random, 0, all.length - 1)]!
}

function whole(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1))
}

/** Numbers from 0 up to 1, the same for the same seed: xorshift. */
function randomOf(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 4_294_967_296
  }
}
