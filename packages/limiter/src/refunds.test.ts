import { equal, ok } from 'node:assert/strict'
import { formulaOf, variantsOf } from '@sluice/conformance'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { planOf } from './core/decide/algorithms.ts'
import { type Decision, receiptOf } from './core/decide/decision.ts'
import { chargedAt } from './core/decide/outcome.ts'
import { type Rule, ruleOf } from './core/decide/rule.ts'
import type { Step } from './core/decide/step.ts'
import { StoreError } from './core/errors.ts'
import { createEngine } from './engine.ts'
import {
  type Booking,
  booked,
  DICE,
  RefundWalk,
  SEED,
  WALKS,
  type WalkOptions,
} from './refunds.test-support.ts'
import { type Reservation, reservationOf } from './reservation.ts'
import { DenyCache } from './stores/deny-cache.ts'
import { FallbackStore } from './stores/fallback.ts'
import { MemoryStore } from './stores/memory.ts'
import { PrefetchStore } from './stores/prefetch.ts'
import type { Charge, Once, Outcome, Store } from './stores/store.ts'
import { FakeClock } from './testing.ts'

const most: WalkOptions['most'] = (plan, interval) => formulaOf(plan).most(plan, interval)
const walked = (go: (dice: readonly number[]) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(DICE, go), { numRuns: WALKS, seed: SEED, endOnFailure: true })

describe(`what is given back, on walks (SLUICE_SEED=${SEED})`, { timeout: 3_600_000 }, () => {
  const inProcess = (moves: boolean, period: string) => (dice: readonly number[]) =>
    new RefundWalk({ moves, period, variants: variantsOf(), most }, (clock) => [
      new MemoryStore({ clock }),
    ]).run(dice)

  it('OF-02, OF-03, OF-06: is never minted, lost or given twice while time steps', () =>
    walked(inProcess(true, '1s')))
  it('OF-03: is all that was taken while the clock steps to and fro', () => walked(inProcess(false, '1d')))
  it('reaches the store that was charged, through failures and beside units taken ahead', () =>
    walked((dice) => new FailingWalk().run(dice)))

  // The last limit of a day has to be counted in milliseconds.
  it.each([
    ['1s', [1, 7, 10, 14, 100, 1_000]],
    ['1d', [1, 100, 104_249, 104_250]],
  ] as const)('OF-02: a queue gives no turn twice, whatever becomes of its limit in %s', (period, limits) =>
    fc.assert(
      fc.property(DICE, (dice) => walkTurns(period, limits, dice)),
      { numRuns: WALKS * 20, seed: SEED, endOnFailure: true },
    ),
  )
})

/** One request after the other by limits that vary, of which some give up their turns, under the limit that they had. */
function walkTurns(period: string, limits: readonly number[], dice: readonly number[]): void {
  const clock = new FakeClock(1_767_225_600_000_000)
  const store = new MemoryStore({ clock })
  const plans = limits.map((limit) => planOf({ algorithm: 'leaky-bucket', limit, period }))
  const waiting: Charge[] = []
  let latest = 0
  for (const die of dice) {
    const [kind, share, cost] = [die % 8, Math.floor(die / 8) % 1024, 1 + (Math.floor(die / 8192) % 3)]
    const plan = plans[share % plans.length]!
    if (kind === 0) clock.advance(share)
    else if (kind < 3) store.settle(waiting.splice(kind === 1 ? -1 : share % (waiting.length || 1), 1))
    else {
      const step = { rule: ruleOf('queue', 'queue', plan), key: 'k', cost }
      const outcome = store.decide([step], false)
      if (!outcome.allowed) continue
      const turn = chargedAt(outcome, 0)
      const last = Math.max(0, ...waiting.map(({ at }) => at))
      ok(turn > last || turn === clock.now(), `the turn ${turn} is given, after ${last}`)
      const bound = Math.max(clock.now(), latest) + (4 * plan.ceiling * plan.period * plan.unit) / plan.limit
      ok(turn <= bound, `the turn ${turn} is given, ${turn - bound} after all that can be in use is over`)
      latest = Math.max(latest, turn)
      waiting.push({ step, at: turn, change: -cost })
    }
  }
}

const RULES: readonly Rule[] = [
  ruleOf('log', 'log', planOf({ algorithm: 'sliding-window-log', limit: 30, period: '1d' }), {
    onStoreError: 'local',
    prefetch: 6,
  }),
  ruleOf('queue', 'queue', planOf({ algorithm: 'leaky-bucket', limit: 30, period: '1d' }), {
    onStoreError: 'local',
  }),
  ruleOf('bucket', 'bucket', planOf({ algorithm: 'token-bucket', limit: 30, period: '1d' })),
  ruleOf('window', 'window', planOf({ algorithm: 'fixed-window', limit: 5, period: '365d' }), {
    onStoreError: 'closed',
  }),
]

type Changes = Map<string, number>

/** A shared store that stops answering, and answers that get lost: beside it a limiter in process takes over. */
class FailingWalk {
  readonly #clock = new FakeClock()
  readonly #shared = new MemoryStore({ clock: this.#clock })
  readonly #books = new Map<Step, Booking>()
  readonly #degraded = new Set<Step>()
  readonly #made: { readonly decision: Decision; readonly reservation: Reservation | undefined }[] = []
  /** Charged without an answer, and given back without one. */
  readonly #lost: Changes = new Map()
  /** What was to be given back, and was not. */
  readonly #failed: Changes = new Map()
  #fails: 'no' | 'before' | 'after' = 'no'

  async run(dice: readonly number[]): Promise<void> {
    const now = (): number => this.#clock.now() / 1_000
    const fallback = new FallbackStore(this.#failing(), { now, failures: 2, probeEveryMs: 5 })
    const prefetch = new PrefetchStore(new DenyCache(this.#witness(fallback), { now }), { now })
    const engine = createEngine(booked(prefetch, this.#books))
    for (const die of dice) {
      this.#clock.advance((die % 5) + 1)
      const [kind, share] = [(die >> 3) % 16, die >> 7]
      const chosen = this.#made[share % (this.#made.length || 1)]
      if (kind === 0) this.#fails = (['no', 'before', 'after', 'no'] as const)[share % 4]!
      else if (kind < 8 || chosen === undefined) {
        const rules = share % 3 === 0 ? [RULES[share % 4]!, RULES[(share + 1) % 4]!] : [RULES[share % 4]!]
        const steps = rules.map((rule) => ({ rule, key: 'k', cost: [1, 1, 2, 5, 0][(share >> 3) % 5]! }))
        const { decision, once } = await engine.reserve('', steps, '1h')
        const reservation = share % 2 ? reservationOf(engine, '', decision, once) : undefined
        this.#made.push({ decision, reservation })
        if (decision.degraded) for (const step of receiptOf(decision)!.steps) this.#degraded.add(step)
      } else {
        const { decision, reservation } = chosen
        const cost = share % 4
        try {
          await (kind < 11
            ? engine.refund('', decision, kind === 8 ? cost : undefined)
            : (reservation?.commit(cost) ?? engine.settle('', decision, cost)))
        } catch (error) {
          if (!(error instanceof StoreError)) throw error
        }
      }
    }
    await prefetch.release()
    for (const rule of RULES) this.#checkShared(rule)
    this.#fails = 'before'
    for (const rule of RULES.filter(({ onStoreError }) => onStoreError === 'local')) {
      const { figures } = await fallback.decide([{ rule, key: 'k', cost: 0 }], true)
      const used = rule.plan.capacity - figures[0]!.remaining!
      const charged = Math.min(rule.plan.capacity, this.#net(rule, true))
      if (rule.plan.algorithm.traits.queues)
        ok(used >= charged, `${rule.name}: ${used} in process, not ${charged}`)
      else equal(used, charged, `${rule.name}, in process`)
    }
    await prefetch.close()
  }

  #checkShared(rule: Rule): void {
    const { remaining } = this.#shared.decide([{ rule, key: 'k', cost: 0 }], true).figures[0]!
    const used = rule.plan.capacity - remaining!
    const least = this.#net(rule, false) + (this.#lost.get(rule.name) ?? 0)
    const most = least + (this.#failed.get(rule.name) ?? 0)
    ok(used >= Math.min(rule.plan.capacity, least), `${rule.name}: ${used} are charged, less than ${least}`)
    if (!rule.plan.algorithm.traits.queues)
      ok(used <= most, `${rule.name}: ${used} are charged, more than ${most}`)
  }

  #net(rule: Rule, degraded: boolean): number {
    let sum = 0
    for (const { step, net } of this.#books.values())
      if (step.rule === rule && this.#degraded.has(step) === degraded) sum += net
    return sum
  }

  /** The shared store as it fails: it never sees what was charged without it. */
  #failing(): Store<true> {
    const failingAt = (when: 'before' | 'after'): void => {
      if (this.#fails === when) throw new StoreError('the store is down')
    }
    return {
      ...storeOf(this.#shared),
      decide: async (steps, peek) => {
        failingAt('before')
        const outcome = this.#shared.decide(steps, peek)
        if (this.#fails === 'after' && outcome.allowed && !peek) this.#lose(steps, outcome)
        failingAt('after')
        return outcome
      },
      settle: async (charges, once) => {
        for (const { degraded } of charges)
          ok(!degraded, 'charged in process, and given back to the shared store')
        failingAt('before')
        const settled = this.#shared.settle(charges, once)
        if (settled && this.#fails === 'after')
          for (const { step, change } of charges) add(this.#lost, step, change)
        failingAt('after')
        return settled
      },
    }
  }

  #lose(steps: readonly Step[], { figures }: Outcome): void {
    for (const [i, step] of steps.entries()) if (figures[i]!.allowed) add(this.#lost, step, step.cost)
  }

  #witness(store: Store<true>): Store<true> {
    return {
      ...storeOf(store),
      settle: async (charges: readonly Charge[], once?: Once) => {
        try {
          return await store.settle(charges, once)
        } catch (error) {
          for (const { step, change } of charges) add(this.#failed, step, Math.max(0, -change))
          throw error
        }
      },
    }
  }
}

function storeOf(store: Store): Store<true> {
  return {
    async: true,
    decide: async (steps, peek) => store.decide(steps, peek),
    settle: async (charges, once) => store.settle(charges, once),
    reset: async (state) => store.reset(state),
    block: async (state, ticks) => store.block(state, ticks),
    close: async () => store.close(),
  }
}

function add(changes: Changes, { rule }: Step, change: number): void {
  changes.set(rule.name, (changes.get(rule.name) ?? 0) + change)
}
