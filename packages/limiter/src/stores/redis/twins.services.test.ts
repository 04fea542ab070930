import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Plan } from '../../core/decide/algorithm.ts'
import { planOf } from '../../core/decide/algorithms.ts'
import { blockPlan } from '../../core/decide/block/block.ts'
import { MAX } from '../../core/decide/integers.ts'
import type { Policy } from '../../core/decide/policy.ts'
import type { Step } from '../../core/decide/step.ts'
import { FakeClock } from '../../testing.ts'
import { MemoryStore } from '../memory.ts'
import { RedisStore } from '../redis.ts'
import type { Charge, Once } from '../store.ts'
import { type RedisServer, startRedis } from './server.test-support.ts'

/** Requests and corrections in all; SLUICE_DIFFERENTIAL_STEPS asks for more: a million at most, or the clock passes 2^53. */
const STEPS = Number(process.env.SLUICE_DIFFERENTIAL_STEPS ?? 20_000)
const SEED = Number(process.env.SLUICE_DIFFERENTIAL_SEED ?? 1)

/** Policies that share a name share their counters where their law and period are the same. */
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
  leases: [
    { algorithm: 'concurrency', limit: 6, period: '20s' },
    { algorithm: 'concurrency', limit: 200, period: '1h' },
  ],
}
const BLOCKS = [
  blockPlan({ after: 3, within: '2s', for: '7s' }),
  blockPlan({ after: 1, within: '1s', for: '1d' }),
]

/** More entries than one block of a log holds, and more leases than one reading of them. */
const LONG: Readonly<Record<string, readonly Policy[]>> = {
  log: [
    { algorithm: 'sliding-window-log', limit: 900, period: '1h' },
    { algorithm: 'sliding-window-log', limit: 300, period: '1h' },
  ],
  leases: [{ algorithm: 'concurrency', limit: 250, period: '1h' }],
}

/** Whose states the steps are about, and how much time passes between them, in milliseconds. */
interface World {
  readonly states: readonly (readonly [policy: string, plan: Plan])[]
  readonly keys: readonly string[]
  readonly elapsed: (random: Random) => number
  /** Likelihood that a step in fifty is a reset. */
  readonly resets: number
}

type Random = () => number

function statesOf(policies: Readonly<Record<string, readonly Policy[]>>): World['states'] {
  return Object.entries(policies).flatMap(([name, each]) =>
    each.map((policy) => [name, planOf(policy)] as const),
  )
}

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

describe('The laws in Lua answer as those in TypeScript, figure for figure', () => {
  it(`over ${STEPS} random steps`, { timeout: 3_600_000 }, () =>
    differ(STEPS, { states: statesOf(POLICIES), keys: ['a', 'b', '{c}', 'd\u0000'], elapsed, resets: 1 }),
  )

  it('where states are long', () =>
    differ(10_000, {
      states: statesOf(LONG),
      keys: ['a'],
      elapsed: (random) => random() * 10_000,
      resets: 0.1,
    }))
})

async function differ(total: number, world: World): Promise<void> {
  const random = randomOf(SEED)
  const clock = new FakeClock(1_774_700_000_000_000) // three days before clocks change in Europe
  const memory = new MemoryStore({ clock })
  const redis = new RedisStore({ client, clock, prefix: `differential-${total}` })
  const charges: Charge[] = []
  // A full bucket may be dropped and then begins a new phase: in memory, where new keys come. So none come later.
  for (const [policy, plan] of world.states) {
    for (const key of plan.capacity === 0 ? [] : world.keys) {
      const steps: Step[] = [{ plan, policy, key, cost: 1, role: 'enforce', lease: 1 }]
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
    } else if (kind < 0.98) {
      done++
      const settled = settlementOf(random, charges)
      const once = random() < 0.3 ? onceOf(random, clock) : undefined
      expected.push(memory.settle(settled, once))
      answers.push(redis.settle(settled, once))
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

function stepOf(random: Random, { states, keys }: World): Step {
  const [policy, plan] = states[whole(random, 0, states.length - 1)]!
  const index = whole(random, 0, keys.length - 1)
  const { algorithm, capacity } = plan
  const cost =
    random() < 0.7
      ? whole(random, 0, 3)
      : [capacity, capacity + 1, Math.ceil(capacity / 2), MAX][whole(random, 0, 3)]!
  return {
    plan,
    policy,
    key: keys[index]!,
    cost: Math.min(cost, MAX),
    role: (['enforce', 'enforce', 'quota', 'shadow'] as const)[whole(random, 0, 3)]!,
    ...(index === 1 && algorithm.name !== 'concurrency' ? { phase: 1_234_567 } : undefined),
    ...(algorithm.name === 'concurrency' ? { lease: whole(random, 1, MAX) } : undefined),
  }
}

/** Up to five steps, each naming a state of its own, some with a guard behind them. */
function requestOf(random: Random, world: World): Step[] {
  const steps: Step[] = []
  const taken = new Set<string>()
  for (let n = whole(random, 1, 4); n > 0; n--) {
    const step = stepOf(random, world)
    const state = `${step.policy} ${step.plan.kind} ${step.key}`
    if (taken.has(state)) continue
    taken.add(state)
    steps.push(step)
    if (random() < 0.7) continue
    const plan = BLOCKS[whole(random, 0, 1)]!
    steps.push({
      plan,
      policy: `${state} block`,
      key: step.key,
      cost: whole(random, 0, 1),
      role: 'guard',
      watches: steps.length - 1,
    })
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
    const charge = charges[whole(random, 0, charges.length - 1)]!
    const lease = charge.step.lease !== undefined
    const change = random() < 0.5 ? -charge.step.cost : whole(random, lease ? -3 : -10, lease ? 0 : 10)
    settled.push({ ...charge, change })
  }
  return settled
}

function onceOf(random: Random, clock: FakeClock): Once {
  const id = String(whole(random, 0, 1e12))
  return { id, until: clock.now() + whole(random, -1, 1) * 1_000 }
}

/** Mostly a little, now and then years, and sometimes back. */
function elapsed(random: Random): number {
  const kind = random()
  if (kind < 0.1) return -random() * 10_000
  if (kind < 0.15) return random() * 86_400_000 * 3
  if (kind < 0.152) return random() * 86_400_000 * 400
  return random() * [0.01, 100, 3_000, 10_000][whole(random, 0, 3)]!
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
