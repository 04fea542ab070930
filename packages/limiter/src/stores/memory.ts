import { type Clock, clockCheck, monotonicClock } from '../clock.ts'
import type { Plan } from '../core/decide/algorithm.ts'
import type { Decision } from '../core/decide/decision.ts'
import { chargeInstant, type Figures, figuresFrom, instantOf, inUnits } from '../core/decide/figures.ts'
import { answerState, readState } from '../core/decide/one-call.ts'
import { canRefuse } from '../core/decide/role.ts'
import type { Rule } from '../core/decide/rule.ts'
import { block, correct, run } from '../core/decide/run.ts'
import { ShortDecisions } from '../core/decide/short-decision.ts'
import { checkOptions, type OptionFields, objectOf, wholeFrom } from '../core/options.ts'
import { byteCheck, byteCount } from './memory/byte-count.ts'
import { MemoryStates } from './memory/memory-states.ts'
import { SpentIds } from './memory/spent-ids.ts'
import { Budget, type MemorySlot } from './memory/state-table.ts'
import type { Charge, Once, Outcome, StateName, Step, Store } from './store.ts'

export interface MemoryStoreOptions {
  /** Default: monotonic, anchored to the wall clock when the process began. */
  readonly clock?: Clock
  /** Most keys held at once, over all policies. Beyond it new keys share buckets; no key is evicted. Default 10,000,000. */
  readonly maxKeys?: number
  /**
   * Most bytes held at once, over all policies: a number, text such as `200MB` or `64MiB`, or a share of the heap that
   * this process may use. Beyond it new keys share buckets, too. Default `25%`.
   */
  readonly maxBytes?: number | string
}

/** Of `maxBytes`, what the ids of settled reservations may take: keys that clients invent leave it to them. */
const IDS_SHARE = 1 / 8

/** What the options of a MemoryStore may be. */
export const memoryFields: OptionFields<MemoryStoreOptions> = {
  clock: clockCheck,
  maxKeys: wholeFrom(1),
  maxBytes: byteCheck,
}
const OPTIONS = /* @__PURE__ */ objectOf(memoryFields)

/**
 * Keeps state in this process, and answers at once.
 * @example
 * const store = new MemoryStore({ maxKeys: 1_000_000 })
 * const limiter = createLimiter({ store, policies: { api: { algorithm: 'gcra', limit: 10, period: '1s' } } })
 */
export class MemoryStore implements Store<false> {
  readonly async = false as const
  readonly #clock: Clock
  readonly #budget: Budget
  readonly #states: MemoryStates
  readonly #idBudget: Budget
  readonly #spent: SpentIds
  readonly #decisions = new ShortDecisions()

  /** @throws ConfigError for invalid options */
  constructor(options: MemoryStoreOptions = {}) {
    checkOptions(options, OPTIONS)
    const { clock = monotonicClock(), maxKeys = 10_000_000, maxBytes = '25%' } = options
    const bytes = byteCount(maxBytes)
    this.#clock = clock
    this.#budget = new Budget(maxKeys, bytes * (1 - IDS_SHARE))
    this.#states = new MemoryStates(this.#budget, clock)
    this.#idBudget = new Budget(maxKeys, bytes * IDS_SHARE)
    this.#spent = new SpentIds(this.#idBudget, clock)
  }

  /** Keys held now; some of them may be waiting to be deleted. */
  get size(): number {
    return this.#budget.keys
  }

  /** Bytes that their states take, and the ids of settled reservations. */
  get bytes(): number {
    return this.#budget.bytes + this.#idBudget.bytes
  }

  /** Charges so far to keys beyond `maxKeys` or `maxBytes`, which share buckets. */
  get sharedCharges(): number {
    return this.#budget.shared
  }

  decide(steps: readonly Step[], peek: boolean): Outcome {
    const at = this.#now()
    return isPlain(steps) ? this.#decidePlain(steps, peek, at) : run(steps, this.#states, at, peek)
  }

  decisionOf(rules: readonly Rule[], key: string, cost: number, peek: boolean): Decision {
    const at = this.#now()
    const slots = this.#states.slots(rules.length)
    if (rules.length === 1) {
      const slot = slots[0]!
      this.#decideOne(rules[0]!, key, cost, at, peek, true, slot)
      return this.#decisions.ofOne(rules, slot, key, cost, peek, at)
    }
    return this.#decideSeveral(rules, key, cost, at, peek, slots)
  }

  #decideSeveral(
    rules: readonly Rule[],
    key: string,
    cost: number,
    at: number,
    peek: boolean,
    slots: readonly MemorySlot[],
  ): Decision {
    let allowed = true
    for (let i = 0; i < rules.length; i++) {
      this.#read(rules[i]!, key, cost, at, 0, slots[i]!)
      if (!slots[i]!.allowed && rules[i]!.role === 'enforce') allowed = false
    }
    const charges = allowed && !peek
    for (let i = 0; i < rules.length; i++) this.#answer(rules[i]!, key, cost, charges, 0, 0, slots[i]!)
    return this.#decisions.ofSeveral(rules, slots, key, cost, allowed, peek, at)
  }

  admits(rules: readonly Rule[], key: string, cost: number): boolean {
    const at = this.#now()
    const slots = this.#states.slots(rules.length)
    return rules.length === 1
      ? this.#decideOne(rules[0]!, key, cost, at, false, false, slots[0]!)
      : this.#admitsSeveral(rules, key, cost, at, slots)
  }

  #admitsSeveral(
    rules: readonly Rule[],
    key: string,
    cost: number,
    at: number,
    slots: readonly MemorySlot[],
  ): boolean {
    for (let i = 0; i < rules.length; i++) {
      this.#read(rules[i]!, key, cost, at, 0, slots[i]!)
      if (!slots[i]!.allowed && rules[i]!.role === 'enforce') return false
    }
    if (cost === 0) return true
    for (let i = 0; i < rules.length; i++) {
      if (slots[i]!.allowed) this.#charge(rules[i]!, key, cost, slots[i]!)
    }
    return true
  }

  settle(charges: readonly Charge[], once?: Once): boolean {
    const at = this.#clock.now()
    if (once !== undefined && !this.#spent.spend(once, at)) return false
    correct(charges, this.#states, at)
    return true
  }

  reset({ rule, key }: StateName): void {
    this.#states.reset(rule.namespace, rule.plan, key)
    if (rule.block !== undefined) this.#states.reset(rule.namespace, rule.block, key)
  }

  block(state: StateName, ticks: number): void {
    block(state, ticks, this.#states, this.#clock.now())
  }

  close(): void {
    this.#states.clear()
    this.#spent.clear()
  }

  /** The clock, and what is due by it. */
  #now(): number {
    const at = this.#clock.now()
    if (this.#states.isSweepDue()) this.#states.sweep(at)
    return at
  }

  /**
   * As `run`, in one pass that reads and one that charges, for steps of which each refuses on its own, none has a block, and no
   * two share a table. A differential test compares them.
   */
  #decidePlain(steps: readonly Step[], peek: boolean, at: number): Outcome {
    const slots = this.#states.slots(steps.length)
    let allowed = true
    for (let i = 0; i < steps.length; i++) {
      const { rule, key, cost, phase = 0 } = steps[i]!
      this.#read(rule, key, cost, at, phase, slots[i]!)
      if (!slots[i]!.allowed && canRefuse(rule.role)) allowed = false
    }
    const charges = allowed && !peek
    const figures: Figures[] = new Array(steps.length)
    let instants: number[] | undefined
    for (let i = 0; i < steps.length; i++) {
      const { rule, key, cost, phase = 0, chargeId = 0 } = steps[i]!
      const slot = slots[i]!
      this.#answer(rule, key, cost, charges, phase, chargeId, slot)
      figures[i] = figuresFrom(rule.plan, slot, slot.retry, slot.more, slot.reset)
      const instant = chargeInstant(rule.plan, slot) + phase
      if (instant === at) continue
      instants ??= new Array(steps.length).fill(at)
      instants[i] = instant
    }
    return instants === undefined ? { allowed, at, figures } : { allowed, at, figures, instants }
  }

  /**
   * Of one rule, by one call of its algorithm where the key has a state in its place. What a decision states is in the
   * slot only where that `isStated`.
   * @returns whether the cost fits
   */
  #decideOne(
    rule: Rule,
    key: string,
    cost: number,
    at: number,
    peek: boolean,
    isStated: boolean,
    slot: MemorySlot,
  ): boolean {
    const { plan, namespace } = rule
    this.#states.find(namespace, plan, key, at, slot, 0)
    if (slot.isInPlace && plan.unit === 1 && plan.algorithm.decide !== undefined) {
      const allowed = plan.algorithm.decide(plan, slot, at, cost, peek, isStated)
      if (allowed && !peek) slot.table!.keep(slot)
      return allowed
    }
    this.#readFound(plan, cost, at, 0, slot)
    if (isStated) this.#answer(rule, key, cost, !peek, 0, 0, slot)
    else if (slot.allowed && cost > 0) this.#charge(rule, key, cost, slot)
    return slot.allowed
  }

  #read(
    { plan, namespace }: Rule,
    key: string,
    cost: number,
    at: number,
    phase: number,
    slot: MemorySlot,
  ): void {
    this.#states.find(namespace, plan, key, at, slot, phase)
    this.#readFound(plan, cost, at, phase, slot)
  }

  #readFound(plan: Plan, cost: number, at: number, phase: number, slot: MemorySlot): void {
    const used = instantOf(slot.cells, slot.offset, at)
    slot.ticks = used - phase
    slot.last = inUnits(plan, slot.cells[slot.offset]! - phase)
    slot.now = inUnits(plan, used - phase)
    readState(plan, slot, cost)
  }

  /** After `#read`: the waits, of the state with the charge where it `charges` what fits. */
  #answer(
    rule: Rule,
    key: string,
    cost: number,
    charges: boolean,
    phase: number,
    chargeId: number,
    slot: MemorySlot,
  ): void {
    const isCharged = charges && slot.allowed && cost > 0
    if (isCharged) this.#makeRoom(rule, key, phase, slot)
    answerState(rule.plan, slot, cost, isCharged, chargeId)
    if (isCharged) keepCharge(slot, phase)
  }

  /** After `#read`, a cost that fits. */
  #charge(rule: Rule, key: string, cost: number, slot: MemorySlot): void {
    this.#makeRoom(rule, key, 0, slot)
    const { cells, offset, last, now, left } = slot
    rule.plan.algorithm.charge(rule.plan, cells, offset, last, now, cost, 0, left)
    keepCharge(slot, 0)
  }

  #makeRoom({ plan, namespace }: Rule, key: string, phase: number, slot: MemorySlot): void {
    if (!slot.isInPlace || phase !== 0 || slot.version !== slot.table!.version)
      this.#states.place(namespace, plan, key, slot.ticks + phase, slot)
  }
}

function keepCharge(slot: MemorySlot, phase: number): void {
  slot.cells[slot.offset] = slot.ticks + phase
  slot.table!.keep(slot)
}

/** Steps are compared each with all: with more of them that would take longer than it saves. */
const MOST_PLAIN = 8

/**
 * Whether no step has a block or refuses only with others (quotas), and each has a table of its own. In one table a
 * charge may move the state of another key, or two keys may share one.
 */
function isPlain(steps: readonly Step[]): boolean {
  if (steps.length > MOST_PLAIN) return false
  for (let i = 0; i < steps.length; i++) {
    const { namespace, block, role } = steps[i]!.rule
    if (block !== undefined || (role === 'quota' && steps.length > 1)) return false
    for (let j = 0; j < i; j++) if (steps[j]!.rule.namespace === namespace) return false
  }
  return true
}
