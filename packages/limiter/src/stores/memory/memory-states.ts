import type { StatePlan } from '../../core/decide/algorithm.ts'
import { NO_CELLS, newSlot, type Slot, type States } from '../../core/decide/run.ts'
import { Fingerprint } from './fingerprint.ts'
import { FixedStates } from './fixed-states.ts'
import { GrowingStates } from './growing-states.ts'
import { DROPS_ABOVE, type KeyBudget, keepFor, type StateTable } from './state-table.ts'

/** Where one step of the request at hand is. Reused from request to request: a store decides one at a time. */
export interface MemorySlot extends Slot {
  table: StateTable
}

/** Every so many decisions, so many states are looked at for deletion. */
const SWEEP_EVERY = 8

/** All states of one process, in a table for each namespace and kind of plan. */
export class MemoryStates implements States<MemorySlot> {
  readonly #budget: KeyBudget
  readonly #print = new Fingerprint(Math.random)
  readonly #tables = new Map<string, StateTable>()
  readonly #order: StateTable[] = []
  readonly #slots: MemorySlot[] = []
  #decisions = 0

  constructor(maxKeys: number) {
    this.#budget = { keys: 0, max: maxKeys, shared: 0 }
  }

  get keys(): number {
    return this.#budget.keys
  }

  get sharedCharges(): number {
    return this.#budget.shared
  }

  slots(count: number): readonly MemorySlot[] {
    while (this.#slots.length < count) this.#slots.push({ ...newSlot(), table: undefined as never })
    return this.#slots
  }

  find(namespace: string, plan: StatePlan, key: string, now: number, slot: MemorySlot, phase: number): void {
    const table = this.table(namespace, plan)
    const offset = table.locate(key, now)
    if (phase > table.lag) table.lag = phase
    slot.table = table
    slot.cells = offset < 0 ? NO_CELLS : table.cells
    slot.offset = Math.max(offset, 0)
  }

  place(_namespace: string, _plan: StatePlan, key: string, now: number, slot: MemorySlot): void {
    slot.offset = slot.table.place(key, now)
    slot.cells = slot.table.cells
  }

  reset(namespace: string, plan: StatePlan, key: string): void {
    const table = this.table(namespace, plan)
    const offset = table.locate(key, 0)
    if (offset >= 0) table.cells.fill(0, offset, plan.size === 0 ? undefined : offset + plan.size)
  }

  /** To be asked for each decision: whether it is time to `sweep`. */
  isSweepDue(): boolean {
    return ++this.#decisions % SWEEP_EVERY === 0 && this.#budget.keys > DROPS_ABOVE
  }

  /** Looks at a few states, and deletes those that have expired. @param at the clock's reading, in microseconds */
  sweep(at: number): void {
    const table = this.#order[(this.#decisions / SWEEP_EVERY) % this.#order.length]!
    table.sweep(SWEEP_EVERY, at)
  }

  clear(): void {
    this.#tables.clear()
    this.#order.length = 0
    this.#budget.keys = 0
  }

  /** One table for each kind of plan: a changed limit keeps what was used, another algorithm or period begins anew. */
  table(namespace: string, plan: StatePlan): StateTable {
    const first = this.#tables.get(namespace)
    for (let table = first; table !== undefined; table = table.next) {
      if (table.lastPlan === plan) return table
      if (table.keeps.kind !== plan.kind) continue
      keepFor(table, plan)
      return table
    }
    const table = new (plan.size === 0 ? GrowingStates : FixedStates)(plan, this.#budget, this.#print)
    table.next = first
    this.#tables.set(namespace, table)
    this.#order.push(table)
    return table
  }
}
