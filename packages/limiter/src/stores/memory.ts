import { type Clock, clockCheck, monotonicClock } from '../clock.ts'
import { chargeInstant, figuresOf, instantOf, inUnits } from '../core/decide/figures.ts'
import { canRefuse } from '../core/decide/role.ts'
import { block, correct, NO_CELLS, run } from '../core/decide/run.ts'
import { checkOptions, objectOf, wholeFrom } from '../core/options.ts'
import { type MemorySlot, MemoryStates } from './memory/memory-states.ts'
import type { Charge, Once, Outcome, StateName, Step, Store } from './store.ts'

export interface MemoryStoreOptions {
  /** Default: monotonic, anchored to the wall clock when the process began. */
  readonly clock?: Clock
  /** Most keys held at once, over all policies. Beyond it new keys share buckets; no key is evicted. Default 10,000,000. */
  readonly maxKeys?: number
}

const OPTIONS = /* @__PURE__ */ objectOf<MemoryStoreOptions>({ clock: clockCheck, maxKeys: wholeFrom(1) })

/**
 * Keeps state in this process, and answers at once.
 * @example
 * const store = new MemoryStore({ maxKeys: 1_000_000 })
 * const limiter = createLimiter({ store, policies: { api: { algorithm: 'gcra', limit: 10, period: '1s' } } })
 */
export class MemoryStore implements Store<false> {
  readonly async = false as const
  readonly #clock: Clock
  readonly #states: MemoryStates
  readonly #spent = new Map<string, number>()

  /** @throws ConfigError for invalid options */
  constructor(options: MemoryStoreOptions = {}) {
    checkOptions(options, OPTIONS)
    const { clock = monotonicClock(), maxKeys = 10_000_000 } = options
    this.#clock = clock
    this.#states = new MemoryStates(maxKeys)
  }

  /** Keys held now; some of them may be waiting to be deleted. */
  get size(): number {
    return this.#states.keys
  }

  /** Charges so far to keys beyond `maxKeys`, which share buckets. */
  get sharedCharges(): number {
    return this.#states.sharedCharges
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
    if (once !== undefined && !this.#spend(once, at)) return false
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
      if (slot.cells === NO_CELLS || plan.size === 0) this.#states.place(namespace, plan, key, used, slot)
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

  /** Ids are deleted from the front, in the order in which they were spent: their times differ little. */
  #spend({ id, until }: Once, at: number): boolean {
    for (const [spent, over] of this.#spent) {
      if (over > at) break
      this.#spent.delete(spent)
    }
    if (at >= until || this.#spent.has(id)) return false
    this.#spent.set(id, until)
    return true
  }
}
