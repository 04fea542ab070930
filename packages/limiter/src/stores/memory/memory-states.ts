import type { Clock } from '../../clock.ts'
import type { StatePlan } from '../../core/decide/algorithm.ts'
import { NO_CELLS, type States } from '../../core/decide/run.ts'
import { Fingerprint } from './fingerprint.ts'
import { FixedStates } from './fixed-states.ts'
import { GrowingStates } from './growing-states.ts'
import { type Budget, MemorySlot, type StateTable } from './state-table.ts'

/** Decisions from one sweep to the next; new keys bring it nearer. */
const SWEEP_EVERY = 8
/** Places looked at in one go, and then so many at a time while so many states are found to delete. */
const LOOKS = 16
const MORE_LOOKS = 64
const WORTH_MORE = 4
/** Most in one decision. */
const MOST_LOOKS = 256
/** At a cap each decision looks at so many, or saves the looks for later, up to so many, while there is room. */
const LOOKS_FOR_ROOM = 32
const MOST_SAVED = 4_096

/** Milliseconds to the next sweep while nobody asks: when the last one found something, and when it did not. */
const SOON = 10
const LATER = 250
/** The share of all keys that it looks at, and the most. */
const TIMED_SHARE = 1 / 4
const MOST_TIMED = 32_768

/**
 * All states of one process, in a table for each namespace and kind of plan. States that have expired are deleted by
 * decisions, the more the more keys are new and the more is found, and by a timer, so that memory is given back when
 * nobody asks any more.
 */
export class MemoryStates implements States<MemorySlot> {
  readonly #budget: Budget
  readonly #clock: Clock
  readonly #print = new Fingerprint(Math.random)
  readonly #tables = new Map<string, StateTable>()
  readonly #order: StateTable[] = []
  readonly #slots: MemorySlot[] = []
  /** The table that is swept now. */
  #cursor = 0
  /** Tables when this round began: those that come meanwhile stand behind, and might be followed for ever. */
  #round = 0
  #saved = 0
  #owed = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(budget: Budget, clock: Clock) {
    this.#budget = budget
    this.#clock = clock
  }

  slots(count: number): readonly MemorySlot[] {
    while (this.#slots.length < count) this.#slots.push(new MemorySlot())
    return this.#slots
  }

  find(namespace: string, plan: StatePlan, key: string, now: number, slot: MemorySlot, phase: number): void {
    // Mostly the one of the request before, which spares the look-up by name.
    let { table } = slot
    if (table === undefined || table.lastPlan !== plan || table.namespace !== namespace)
      table = this.table(namespace, plan)
    slot.phase = phase
    table.find(key, now, slot)
  }

  place(_namespace: string, _plan: StatePlan, key: string, now: number, slot: MemorySlot): void {
    slot.table!.place(key, now, slot)
  }

  keep(slot: MemorySlot): void {
    slot.table!.keep(slot)
  }

  reset(namespace: string, plan: StatePlan, key: string): void {
    const slot = this.slots(1)[0]!
    this.find(namespace, plan, key, 0, slot, 0)
    const { cells, offset } = slot
    if (cells === NO_CELLS) return
    cells.fill(0, offset, plan.size === 0 ? undefined : offset + plan.size)
    this.keep(slot)
  }

  /** To be asked for each decision: whether it is time to `sweep`. */
  isSweepDue(): boolean {
    return --this.#budget.due <= 0 || this.#budget.isFull
  }

  /** Looks at a few states, and deletes those that have expired. @param at the clock's reading, in microseconds */
  sweep(at: number): void {
    const budget = this.#budget
    budget.due = SWEEP_EVERY
    if (budget.isSmall) return
    this.#saved = Math.min(MOST_SAVED, this.#saved + LOOKS_FOR_ROOM)
    const { refused } = budget
    budget.refused = false
    let before = budget.keys
    let looked = this.#look(LOOKS, at)
    let isWorthMore = budget.keys < before
    while (isWorthMore && looked < MOST_LOOKS) {
      before = budget.keys
      looked += this.#look(MORE_LOOKS, at)
      isWorthMore = before - budget.keys >= WORTH_MORE
    }
    while ((refused || budget.isFull) && this.#saved > 0) this.#saved -= this.#look(LOOKS, at)
    this.#timer ??= this.#wake(LATER)
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const table of this.#order) table.drop()
    this.#slots.length = 0
    this.#tables.clear()
    this.#order.length = 0
    this.#round = 0
  }

  /** One table for each kind of plan: a changed limit keeps what was used, another algorithm or period begins anew. */
  table(namespace: string, plan: StatePlan): StateTable {
    const first = this.#tables.get(namespace)
    for (let table = first; table !== undefined; table = table.next) {
      if (table.lastPlan === plan) return table
      if (table.lastPlan.kind !== plan.kind) continue
      table.lastPlan = plan
      table.keeps.use(plan)
      return table
    }
    const table = new (plan.size === 0 ? GrowingStates : FixedStates)(plan, this.#budget, this.#print)
    table.namespace = namespace
    table.next = first
    this.#tables.set(namespace, table)
    this.#order.push(table)
    return table
  }

  /** Goes on from table to table; what it looks at beyond `looks`, it owes. @returns `looks` */
  #look(looks: number, at: number): number {
    let looked = this.#owed
    while (looked < looks && this.#order.length > 0) {
      if (this.#cursor >= this.#round) {
        this.#cursor = 0
        this.#round = this.#order.length
      }
      const table = this.#order[this.#cursor]!
      looked += 1 + table.sweep(looks - looked, at)
      if (!table.isAtEnd) continue
      if (table.isEmpty) this.#remove(table)
      else this.#cursor++
    }
    this.#owed = Math.max(0, looked - looks)
    return looks
  }

  /** An empty table is nothing to remember: names of policies may come and go. */
  #remove(table: StateTable): void {
    table.drop()
    for (const slot of this.#slots) if (slot.table === table) slot.table = undefined
    this.#order.splice(this.#cursor, 1)
    this.#round--
    const { namespace, next } = table
    const first = this.#tables.get(namespace)!
    if (first === table && next === undefined) this.#tables.delete(namespace)
    else if (first === table) this.#tables.set(namespace, next!)
    for (let before = first; before !== undefined; before = before.next!) {
      if (before.next === table) before.next = next
    }
  }

  #wake(ms: number): ReturnType<typeof setTimeout> {
    const states = new WeakRef(this) // a store that nobody holds any more must not be held by its timer
    const timer = setTimeout(() => {
      const held = states.deref()
      if (held !== undefined) held.#sweepInTime()
    }, ms)
    timer.unref?.()
    return timer
  }

  #sweepInTime(): void {
    const looks = Math.min(MOST_TIMED, Math.max(MOST_LOOKS, Math.ceil(this.#budget.keys * TIMED_SHARE)))
    const before = this.#budget.keys
    this.#look(looks, this.#clock.now())
    this.#timer = this.#budget.isSmall ? undefined : this.#wake(this.#budget.keys < before ? SOON : LATER)
  }
}
