import { deepEqual, equal, ok } from 'node:assert/strict'
import fc from 'fast-check'
import type { Plan } from './core/decide/algorithm.ts'
import { type Policy, planOf } from './core/decide/algorithms.ts'
import { type Decision, receiptOf } from './core/decide/decision.ts'
import { chargedAt } from './core/decide/outcome.ts'
import { type Rule, type RuleOptions, ruleOf } from './core/decide/rule.ts'
import type { Step } from './core/decide/step.ts'
import { createEngine, type Engine } from './engine.ts'
import { type Reservation, reservationOf } from './reservation.ts'
import type { Charge, Once, Store } from './stores/store.ts'
import { FakeClock } from './testing.ts'

/** Walks for each property: `SLUICE_WALKS` asks for more. */
export const WALKS: number = Number(process.env.SLUICE_WALKS ?? 30)
export const SEED: number = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31)

/** What a walk does, one number for each step. */
export const DICE: fc.Arbitrary<number[]> = fc.array(fc.integer({ min: 0, max: 0x7fff_ffff }), {
  minLength: 20,
  maxLength: 80,
  size: 'max',
})

/** Twice the least limit: more in use is cut off. */
const LEAST_CEILING = 14
/** The last is there twice, so that some requests meet only what is enforced. */
const ROLES: readonly RuleOptions[] = [
  { mode: 'shadow' },
  { onLimit: 'deprioritize' },
  { quota: true },
  { block: { after: 3, within: '1s', for: '2s' } },
  {},
  {},
]

export interface WalkOptions {
  /** How long the period of every limit is. */
  readonly period: string
  /** Where time moves, what comes back by itself is bounded; else the clock steps to and fro within a second, and nothing comes back. */
  readonly moves: boolean
  /** All algorithms, with their choices. */
  readonly variants: readonly { readonly policy: Pick<Policy, 'algorithm'> }[]
  /** The most units that a policy admits between two instants so many microseconds apart. */
  readonly most: (plan: Plan, interval: bigint) => bigint
}

/** What a store has charged for one step, and what was given back of it. */
export interface Booking {
  readonly step: Step
  net: number
  /** Charged more by settlements. */
  more: number
}

/** One decision, as each of the stores made it. */
interface Made {
  readonly decisions: readonly Decision[]
  readonly reservations: readonly (Reservation | undefined)[]
}

/** All that was admitted of one state, in order, and given back: below 0. */
interface Entry {
  readonly at: number
  readonly units: number
}

/**
 * Makes decisions by several limits at once and gives them back, in every way, twice, late, out of order, by several
 * stores of one clock, whose answers must be equal. It keeps books of its own on what each decision took.
 */
export class RefundWalk {
  readonly trace: string[] = []
  readonly clock: FakeClock = new FakeClock(1_767_225_600_000_000 + 3_600_000_000)
  readonly #options: WalkOptions
  readonly #rules: readonly Rule[][]
  readonly #engines: readonly Engine[]
  readonly #books: readonly Map<Step, Booking>[]
  readonly #made: Made[] = []
  readonly #entries = new Map<string, Entry[]>()
  readonly #turns = new Map<string, Map<Step, number>>()
  readonly #held = new Map<string, number>()
  /** States of which something may have been cut off at the ceiling. */
  readonly #cutOff = new Set<string>()

  constructor(options: WalkOptions, makeStores: (clock: FakeClock) => readonly Store[]) {
    this.#options = options
    // The second and third of each are the first under a changed limit.
    this.#rules = options.variants.flatMap(({ policy }, i) =>
      [0, 1].map((lane) =>
        [10, 14, 7].map((limit) => {
          const plan = planOf({ ...policy, limit, period: options.period })
          const { onLimit, ...role } = ROLES[(i + lane * 3) % ROLES.length]!
          return ruleOf(`r${i}${lane}`, `ns/${i}${lane}`, plan, {
            ...role,
            ...(onLimit && { onLimit }),
          })
        }),
      ),
    )
    const stores = makeStores(this.clock)
    this.#books = stores.map(() => new Map())
    this.#engines = stores.map((store, i) => createEngine(booked(store, this.#books[i]!)))
  }

  async run(dice: readonly number[]): Promise<void> {
    try {
      for (const die of dice) await this.#step(die)
      await this.#end()
    } catch (cause) {
      throw new Error(`${(cause as Error).message}\n  ${this.trace.join('\n  ')}`, { cause })
    }
  }

  /** What is still charged for all decisions on a state. */
  charged(rule: Rule): number {
    let sum = 0
    for (const { step, net } of this.#books[0]!.values()) if (stateOf(step.rule) === stateOf(rule)) sum += net
    return sum
  }

  async peek(rule: Rule, cost = 0): Promise<Decision> {
    const answers = await this.#each((engine) => engine.decide('', [{ rule, key: 'k', cost }], true))
    return answers[0]!
  }

  async #step(die: number): Promise<void> {
    const [kind, share, more] = [die % 16, Math.floor(die / 16) % 1024, Math.floor(die / 16_384)]
    if (this.#options.moves) this.#move(more % 24, share / 1024)
    else this.clock.advance([0, 0, -500, 499][more % 4]!) // too little for anything to come back
    const chosen = this.#made[share % (this.#made.length || 1)]
    if (kind < 7 || chosen === undefined) await this.#decide(share, more)
    else await this.#giveBack(chosen, kind, more)
  }

  #move(kind: number, share: number): void {
    const periodMs = 1_000
    const ms =
      [share, -share * 300, periodMs - 0.001, periodMs, share * 400, share * 2_500, share * 50][kind] ?? 0
    const now = this.clock.now()
    // To a window's edge, or just before it.
    if (kind === 7 || kind === 8) this.clock.set(now - (now % 1_000_000) + 1_000_000 - (kind - 7))
    else this.clock.advance(ms)
  }

  async #decide(share: number, more: number): Promise<void> {
    const count = 1 + (more % 3)
    const steps: Step[] = []
    for (let i = 0; i < count; i++) {
      const variants = this.#rules[(share + i * 5) % this.#rules.length]!
      const rule = variants[Math.floor(more / 64) % 4] ?? variants[0]!
      steps.push({ rule, key: 'k', cost: [1, 1, 2, 3, 0, 5][(more >> 3) % 6]! })
    }
    const reserves = share % 3 === 0
    const made = await Promise.all(
      this.#engines.map(async (engine) => {
        if (!reserves) return { decision: await engine.decide('', steps, false), reservation: undefined }
        const { decision, once } = await engine.reserve('', steps, '3s')
        return { decision, reservation: reservationOf(engine, '', decision, once) as Reservation }
      }),
    )
    const decisions = made.map(({ decision }) => decision)
    this.trace.push(
      `at ${this.clock.now()} ${steps.map((step) => `${step.rule.name}:${step.rule.plan.limit}`)} cost ${steps[0]!.cost}: ${JSON.stringify(decisions[0])}`,
    )
    this.#same(decisions)
    this.#same(decisions.map((decision) => steps.map((_, i) => chargedAt(receiptOf(decision)!.outcome, i))))
    this.#made.push({ decisions, reservations: made.map(({ reservation }) => reservation) })
    this.#admitted(decisions[0]!)
    for (const { rule } of steps) await this.#checkLaws(rule)
  }

  async #giveBack({ decisions, reservations }: Made, kind: number, more: number): Promise<void> {
    const before = this.#nets()
    const cost = more % (this.#options.moves ? 7 : 4)
    const verb = (
      await this.#each(async (engine, i) => {
        const [decision, reservation] = [decisions[i]!, reservations[i]]
        if (kind < 9) return ['refund', await engine.refund('', decision)]
        if (kind < 11) return ['refund of', cost, await engine.refund('', decision, cost)]
        if (kind < 13 && reservation !== undefined) return ['commit', cost, await reservation.commit(cost)]
        if (kind < 14 && reservation !== undefined) return ['cancel', await reservation.cancel()]
        return ['settle', cost, await engine.settle('', decision, cost)]
      })
    )[0]!
    const at = decisions.length === 0 ? -1 : this.#made.findIndex((made) => made.decisions === decisions)
    this.trace.push(`at ${this.clock.now()} decision ${at}: ${verb.join(' ')}`)
    const rules = new Set<Rule>()
    for (const [step, net] of this.#nets()) {
      const given = before.get(step)! - net
      if (given === 0) continue
      if (given < 0) this.#hold(step.rule)
      rules.add(step.rule)
      if (given > 0) this.#entry(step.rule, -given)
      if (net === 0) this.#turns.get(stateOf(step.rule))?.delete(step)
    }
    for (const rule of rules) await this.#checkLaws(rule)
  }

  #nets(): Map<Step, number> {
    return new Map([...this.#books[0]!.values()].map(({ step, net }) => [step, net]))
  }

  /** Asks all stores one after the other; their answers must be equal. */
  async #each<T>(ask: (engine: Engine, i: number) => T | Promise<T>): Promise<T[]> {
    const answers = await Promise.all(this.#engines.map(async (engine, i) => ask(engine, i)))
    this.#same(answers)
    return answers
  }

  #same(answers: readonly unknown[]): void {
    const [first, ...others] = answers.map((answer) => JSON.stringify(answer))
    for (const other of others) equal(other, first, 'two stores answer differently')
  }

  /** Enters what was admitted, and that no turn was given before. */
  #admitted(decision: Decision): void {
    const { steps, outcome, charged } = receiptOf(decision)!
    for (const [i, step] of steps.entries()) {
      if (!charged || !outcome.figures[i]!.allowed || step.cost === 0) continue
      this.#hold(step.rule)
      this.#entry(step.rule, step.cost)
      if (step.rule.plan.algorithm.traits.queues) this.#turn(step, chargedAt(outcome, i))
    }
  }

  /** From the instant of a charge on, the state's time does not go back. */
  #hold(rule: Rule): void {
    const state = stateOf(rule)
    this.#held.set(state, Math.max(this.clock.now(), this.#held.get(state) ?? 0))
  }

  #turn(step: Step, turn: number): void {
    const state = stateOf(step.rule)
    const turns = this.#turns.get(state) ?? new Map<Step, number>()
    this.#turns.set(state, turns)
    const latest = Math.max(0, ...turns.values())
    const { period, limit } = step.rule.plan
    ok(
      turn - latest >= Math.floor(period / Math.max(limit, 14)) - 2,
      `the turn ${turn} is given, after ${latest}`,
    )
    turns.set(step, turn)
  }

  #entry(rule: Rule, units: number): void {
    const state = stateOf(rule)
    const entries = this.#entries.get(state) ?? []
    this.#entries.set(state, entries)
    entries.push({ at: this.#held.get(state) ?? this.clock.now(), units })
  }

  /** Remaining, retry and more are promises: they hold at their very microsecond, and not one sooner. */
  async #checkLaws(rule: Rule): Promise<void> {
    const seen = (await this.peek({ ...rule, role: 'enforce' })) as Decision<string, number>
    const { remaining, moreAfterMs, blocked } = seen
    const enforced: Rule = { ...rule, role: 'enforce', block: undefined }
    const admits = async (cost: number, afterMs = 0): Promise<boolean> => {
      const now = this.clock.now()
      this.clock.set(Math.max(now, this.#held.get(stateOf(rule)) ?? 0))
      this.clock.advance(afterMs)
      const { allowed } = (await this.#engines[0]!.decide(
        '',
        [{ rule: enforced, key: 'k', cost }],
        true,
      )) as Decision
      this.clock.set(now)
      return allowed
    }
    if (blocked) return
    ok(remaining === 0 || (await admits(remaining)), `${rule.name}: remaining ${remaining} is too large`)
    equal(await admits(remaining + 1), false, `${rule.name}: remaining ${remaining} is too small`)
    if (moreAfterMs === null) return equal(remaining, rule.plan.capacity)
    equal(await admits(remaining + 1, moreAfterMs - 0.001), false, `${rule.name}: more is too late`)
    ok(await admits(remaining + 1, moreAfterMs), `${rule.name}: more is too early`)
    if (this.charged(rule) > LEAST_CEILING) this.#cutOff.add(stateOf(rule))
    if (!this.#options.moves && !this.#cutOff.has(stateOf(rule))) {
      const used = this.charged(rule)
      const told = rule.plan.capacity - remaining
      const wanted = Math.min(used, rule.plan.capacity)
      // Of a queue that many left, turns may be lost until they are over.
      if (rule.plan.algorithm.traits.queues) ok(told >= wanted, `${rule.name}: ${used} are charged`)
      else equal(told, wanted, `${rule.name}: ${used} are charged`)
    }
  }

  async #end(): Promise<void> {
    for (const [state, entries] of this.#entries) this.#checkIntervals(state, entries)
    for (const { decisions } of this.#made) {
      await Promise.all(this.#engines.map(async (engine, i) => engine.settle('', decisions[i]!, 0)))
    }
    for (const { step, net, more } of this.#books[0]!.values())
      equal(net, more, `of ${step.rule.name} not all was given back`)
    if (!this.#options.moves) return
    this.clock.set(Math.max(this.clock.now(), ...this.#held.values()))
    this.clock.advance(60_000)
    for (const [rule] of this.#rules) {
      const { remaining, delayMs } = await this.peek({ ...rule!, role: 'enforce', block: undefined }, 1)
      deepEqual([remaining, delayMs], [rule!.plan.capacity, 0], `of ${rule!.name} something is lost`)
    }
  }

  /** Between any two admissions: no more than the law's own bound, and what was given back meanwhile. */
  #checkIntervals(state: string, entries: readonly Entry[]): void {
    const plans = this.#rules.flat().filter((rule) => stateOf(rule) === state)
    for (let i = 0; i < entries.length; i++) {
      let [admitted, given] = [0, 0]
      for (let j = i; j < entries.length; j++) {
        const { at, units } = entries[j]!
        if (units < 0) given -= units
        else admitted += units
        const interval = BigInt(Math.max(0, at - entries[i]!.at))
        const most = Math.max(...plans.map(({ plan }) => Number(this.#options.most(plan, interval))))
        ok(
          admitted <= most + given,
          `${state}: ${admitted} were admitted within ${interval} µs, where ${most} and ${given} may be`,
        )
      }
    }
  }
}

function stateOf({ namespace, plan }: Rule): string {
  return `${namespace} ${plan.kind}`
}

/** A store, with books on what it was asked to charge and to give back: at most what a step took. */
export function booked(store: Store, books: Map<Step, Booking>): Store {
  return {
    async: true,
    async decide(steps, peek) {
      const outcome = await store.decide(steps, peek)
      for (const [i, step] of steps.entries()) {
        if (!peek && outcome.allowed && outcome.figures[i]!.allowed)
          books.set(step, { step, net: step.cost, more: 0 })
      }
      return outcome
    },
    async settle(charges: readonly Charge[], once?: Once) {
      const settled = await store.settle(charges, once)
      for (const { step, change } of settled ? charges : []) {
        const booking = books.get(step) ?? { step, net: 0, more: 0 }
        booking.net += change
        booking.more += Math.max(0, change)
        ok(booking.net >= booking.more, `${-change} of ${step.rule.name} are given back, more than it took`)
      }
      return settled
    },
    reset: async (state) => store.reset(state),
    block: async (state, ticks) => store.block(state, ticks),
    close: async () => store.close(),
  }
}
