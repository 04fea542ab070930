import { type Clock, clockCheck, monotonicClock } from '../clock.ts'
import { type Decision, decisionOfOne } from '../core/decide/decision.ts'
import { chargeInstant, figuresOf, instantOf, inUnits, newFigures } from '../core/decide/figures.ts'
import { canRefuse } from '../core/decide/role.ts'
import type { Rule } from '../core/decide/rule.ts'
import { block, correct, NO_CELLS, run } from '../core/decide/run.ts'
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
  /** Written over by each decision of one step. */
  readonly #figures = newFigures()

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
    // Most requests meet one rule without a block: the same as `run`, to which a differential test compares it.
    return steps.length === 1 && steps[0]!.rule.block === undefined
      ? this.#decideOne(steps[0]!, peek, at)
      : run(steps, this.#states, at, peek)
  }

  decisionOfOne(rule: Rule, key: string, cost: number, peek: boolean): Decision {
    const at = this.#now()
    const slot = this.#run(rule, key, cost, peek, at, 0, 0)
    const own = figuresOf(rule.plan, slot, cost, this.#figures)
    return decisionOfOne(rule, key, cost, peek, at, chargeInstant(rule.plan, slot), own)
  }

  admits(rules: readonly Rule[], key: string, cost: number): boolean {
    const at = this.#now()
    if (rules.length === 1) return this.#run(rules[0]!, key, cost, false, at, 0, 0).allowed
    const slots = this.#states.slots(rules.length)
    for (let i = 0; i < rules.length; i++) {
      this.#read(rules[i]!, key, cost, at, 0, slots[i]!)
      if (!slots[i]!.allowed) return false
    }
    if (cost > 0) for (let i = 0; i < rules.length; i++) this.#charge(rules[i]!, key, cost, 0, 0, slots[i]!)
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

  #decideOne({ rule, key, cost, phase = 0, chargeId = 0 }: Step, peek: boolean, at: number): Outcome {
    const slot = this.#run(rule, key, cost, peek, at, phase, chargeId)
    const allowed = slot.allowed || !canRefuse(rule.role)
    const figures = [figuresOf(rule.plan, slot, cost)]
    const instant = chargeInstant(rule.plan, slot) + phase
    return instant === at ? { allowed, at, figures } : { allowed, at, figures, instants: [instant] }
  }

  /** One step without a block. */
  #run(
    rule: Rule,
    key: string,
    cost: number,
    peek: boolean,
    at: number,
    phase: number,
    chargeId: number,
  ): MemorySlot {
    const slot = this.#states.slots(1)[0]!
    this.#read(rule, key, cost, at, phase, slot)
    if (slot.allowed && cost > 0 && !peek) this.#charge(rule, key, cost, phase, chargeId, slot)
    return slot
  }

  #read(
    { plan, namespace }: Rule,
    key: string,
    cost: number,
    at: number,
    phase: number,
    slot: MemorySlot,
  ): void {
    const { algorithm } = plan
    this.#states.find(namespace, plan, key, at, slot, phase)
    const used = instantOf(slot.cells, slot.offset, at)
    const last = inUnits(plan, slot.cells[slot.offset]! - phase)
    const now = inUnits(plan, used - phase)
    const left = algorithm.remaining(plan, slot.cells, slot.offset, last, now)
    const allowed = cost === 0 || cost <= left
    slot.ticks = used - phase
    slot.last = last
    slot.now = now
    slot.left = left
    slot.allowed = allowed
    slot.delay =
      allowed && cost > 0 && algorithm.delay !== undefined
        ? algorithm.delay(plan, slot.cells, slot.offset, last, now)
        : 0
  }

  /** After `#read`, a cost that fits. */
  #charge(
    { plan, namespace }: Rule,
    key: string,
    cost: number,
    phase: number,
    chargeId: number,
    slot: MemorySlot,
  ): void {
    const { cells, table, last, now, left } = slot
    const used = slot.ticks + phase
    const isFound = cells !== NO_CELLS && slot.version === table.version
    const isInPlace = isFound && plan.size > 0 && phase === 0 && cells !== table.overflow
    if (!isInPlace) this.#states.place(namespace, plan, key, used, slot)
    plan.algorithm.charge(plan, slot.cells, slot.offset, last, now, cost, chargeId, left)
    slot.cells[slot.offset] = used
    table.keep(slot)
    slot.last = now
    slot.left = left - cost
  }
}
