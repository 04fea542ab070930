import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Policy, planOf } from '../../core/decide/algorithms.ts'
import { type Rule, type RuleOptions, ruleOf } from '../../core/decide/rule.ts'
import { FakeClock } from '../../testing.ts'
import type { Step } from '../store.ts'
import { Batches } from './batches.ts'
import type { Send } from './client.ts'
import { LuaPrograms } from './lua-programs.ts'
import { Names } from './names.ts'
import { ScriptRunner } from './runner.ts'
import { type RedisServer, startRedis } from './server.test-support.ts'
import { StoreTime } from './store-time.ts'
import { StraightForms } from './straight-forms.ts'

const RUNS = Number(process.env.SLUICE_RUNS ?? 60)
const SEED = Number(process.env.SLUICE_SEED ?? 1)

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

/** Where algorithm and period are the same, so is the state: one policy leaves what another would not hold. */
const POLICIES: readonly Policy[] = [
  { algorithm: 'token-bucket', limit: 7, period: '3s', burst: 9 },
  { algorithm: 'token-bucket', limit: 3, period: '3s', burst: 20 },
  { algorithm: 'token-bucket', limit: 0, period: '3s', burst: 50 },
  { algorithm: 'gcra', limit: 86_400_000, period: '1d' },
  { algorithm: 'gcra', limit: 3, period: '1s' },
  { algorithm: 'leaky-bucket', limit: 7, period: '3s', burst: 10 },
  { algorithm: 'token-bucket', refill: 'interval', limit: 5, period: '2s', burst: 13 },
  { algorithm: 'fixed-window', limit: 10, period: '5s' },
  { algorithm: 'fixed-window', limit: 25, period: '5s' },
  { algorithm: 'fixed-window', limit: 2 ** 53 - 1, period: '1us' },
  { algorithm: 'fixed-window', limit: 9, period: { calendar: 'day', zone: 'Africa/Cairo' } },
  { algorithm: 'fixed-window', limit: 30, period: { calendar: 'week' } },
  { algorithm: 'sliding-window-counter', limit: 10, period: '5s', rounding: 'up' },
]
const ROLES: readonly RuleOptions[] = [
  {},
  {},
  { quota: true },
  { mode: 'shadow' },
  { onLimit: 'deprioritize' },
]

/**
 * Rules in every role of each policy, in two namespaces: so that states are shared, lists of them repeat, and rules that are
 * decided by one script have states of their own.
 */
const RULES = ['shared', 'other'].flatMap((namespace) =>
  POLICIES.flatMap((policy, i) => ROLES.map((role) => ruleOf(`${i}`, namespace, planOf(policy), role))),
)

const cost = fc.oneof(fc.constant(1), fc.constant(1), fc.nat(12), fc.constant(2 ** 53 - 1))
/** Lists of rules that a run asks for; a state stands in each list once for a role. */
const lists = fc.array(
  fc.uniqueArray(fc.constantFrom(...RULES), {
    minLength: 1,
    maxLength: 5,
    selector: ({ name, role }) => `${name} ${role}`,
  }),
  { minLength: 1, maxLength: 3 },
)
const request = fc.record({
  list: fc.nat(2),
  other: fc.boolean(),
  key: fc.constantFrom('a', 'b', 'c'),
  costs: fc.array(cost, { minLength: 5, maxLength: 5 }),
  peek: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
})
const turn = fc.record({
  /** Milliseconds since the turn before: mostly a little, at times a step back. */
  elapsed: fc.oneof(fc.nat(50), fc.nat(3_000), fc.nat(86_400_000), fc.integer({ min: -2_000, max: 0 })),
  requests: fc.array(request, { minLength: 1, maxLength: 20 }),
})

/** The same rule in the other namespace. */
function alike(rule: Rule): Rule {
  return RULES[(RULES.indexOf(rule) + RULES.length / 2) % RULES.length]!
}

function stepsOf(rules: readonly Rule[], key: string, costs: readonly number[]): Step[] {
  return rules.map((rule, i) => {
    const phase = key === 'b' && rule.plan.algorithm.traits.aligned ? { phase: 1_234_567 } : undefined
    return { rule, key, cost: costs[i]!, ...phase }
  })
}

it('Scripts that are written for the steps of requests decide, and keep states, as the one for all requests', async () => {
  const calls: string[][] = []
  const send: Send = (args) => {
    calls.push(args)
    return redis.call(args[0]!, args.slice(1))
  }
  let run = 0
  let straight = 0
  await fc.assert(
    fc.asyncProperty(lists, fc.array(turn, { minLength: 1, maxLength: 8 }), async (rules, turns) => {
      const clock = new FakeClock(1_774_700_000_000_000)
      const time = new StoreTime(clock)
      const programs = new LuaPrograms()
      const prefix = `run${run++}`
      const runner = new ScriptRunner(send)
      const forms = new StraightForms(programs, time, run % 3 === 0 ? 0 : undefined)
      const own = new Batches(runner, programs, new Names(`${prefix}:s`), time, forms)
      const general = new Batches(runner, programs, new Names(`${prefix}:g`), time, { of: () => undefined })
      for (const { elapsed, requests } of turns) {
        clock.advance(elapsed)
        const asked = requests.map(({ list, other, key, costs, peek }) => {
          const listed = rules[list % rules.length]!
          const steps = stepsOf(other ? listed.map(alike) : listed, key, costs)
          return [own, general].map((batches) => batches.decide(steps, peek, 0))
        })
        const outcomes = await Promise.all(asked.map((both) => Promise.all(both)))
        for (const [mine, theirs] of outcomes) expect(mine).toEqual(theirs)
      }
      const keys = (await redis.keys(`${prefix}:s:*`)).sort()
      const others = (await redis.keys(`${prefix}:g:*`)).sort()
      const bytes = async (names: readonly string[]): Promise<(Buffer | null)[]> =>
        names.length === 0 ? [] : redis.mgetBuffer(...names)
      expect(keys.map((key) => key.replace(':s:', ':g:'))).toEqual(others)
      expect(await bytes(keys)).toEqual(await bytes(others))
      straight += calls.filter(([, text]) => text!.includes('for request = 0')).length
      calls.length = 0
    }),
    { numRuns: RUNS, seed: SEED },
  )
  expect(straight).toBeGreaterThan(RUNS / 2)
}, 600_000)
