import { type Clock, clockCheck, monotonicClock } from '../clock.ts'
import { chargeInstant, figuresOf, instantOf, inUnits } from '../core/decide/figures.ts'
import { canRefuse } from '../core/decide/role.ts'
import { block, correct, NO_CELLS, run } from '../core/decide/run.ts'
import { checkOptions, type OptionFields, objectOf, wholeFrom } from '../core/options.ts'
import { byteCheck, byteCount } from './memory/byte-count.ts'
import { type MemorySlot, MemoryStates } from './memory/memory-states.ts'
import { SpentIds } from './memory/spent-ids.ts'
import { Budget } from './memory/state-table.ts'
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
    const at = this.#clock.now()
    if (this.#states.isSweepDue()) this.#states.sweep(at)
    // Most requests meet one rule without a block: the same as `run`, to which a differential test compares it.
    return steps.length === 1 && steps[0]!.rule.block === undefined
      ? this.#decideOne(steps[0]!, peek, at)
      : run(steps, this.#states, at, peek)
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

  #decideOne(step: Step, peek: boolean, at: number): Outcome {
    const { rule, key, cost, phase = 0, chargeId = 0 } = step
    const { plan, namespace } = rule
    const { algorithm } = plan
    const slot: MemorySlot = this.#states.slots(1)[0]!
    this.#states.find(namespace, plan, key, at, slot, phase)
    const used = instantOf(slot.cells, slot.offset, at)
    const last = inUnits(plan, slot.cells[slot.offset]! - phase)
    const now = inUnits(plan, used - phase)
    const left = algorithm.remaining(plan, slot.cells, slot.offset, last, now)
    const allowed = cost === 0 || cost <= left
    const charged = allowed && cost > 0
    slot.ticks = used - phase
    slot.last = last
    slot.now = now
    slot.left = left
    slot.allowed = allowed
    slot.delay =
      charged && algorithm.delay !== undefined ? algorithm.delay(plan, slot.cells, slot.offset, last, now) : 0
    if (charged && !peek) {
      const { cells, table } = slot
      const isInPlace = cells !== NO_CELLS && plan.size > 0 && phase === 0 && cells !== table.overflow
      if (!isInPlace) this.#states.place(namespace, plan, key, used, slot)
      algorithm.charge(plan, slot.cells, slot.offset, last, now, cost, chargeId, left)
      slot.cells[slot.offset] = used
      slot.last = now
      slot.left = left - cost
    }
    const admitted = allowed || !canRefuse(rule.role)
    const figures = [figuresOf(plan, slot, cost)]
    const instant = chargeInstant(plan, slot) + phase
    return instant === at
      ? { allowed: admitted, at, figures }
      : { allowed: admitted, at, figures, instants: [instant] }
  }
}
