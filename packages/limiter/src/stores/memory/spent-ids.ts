import type { Clock } from '../../clock.ts'
import type { Recovery, StatePlan } from '../../core/decide/algorithm.ts'
import type { Once } from '../store.ts'
import { MemoryStates } from './memory-states.ts'
import { type Budget, MemorySlot } from './state-table.ts'

/** Cells of an id: when it was spent, and until when that counts. */
const recovery: Recovery = {
  name: 'spent',
  remaining: (_plan, cells, offset, _last, now) => (now < cells[offset + 1]! ? 0 : 1),
  wait: (_plan, cells, offset, _last, now) => Math.max(0, cells[offset + 1]! - now),
}
const plan: StatePlan = {
  algorithm: recovery,
  kind: recovery.name,
  capacity: 1,
  limit: 1,
  period: 1,
  unit: 1,
  size: 2,
  ceiling: 1,
}

/** Which settlements have happened. Each id is a state like that of a key, and is deleted once its own time is over. */
export class SpentIds {
  readonly #states: MemoryStates
  readonly #slot = new MemorySlot()

  constructor(budget: Budget, clock: Clock) {
    this.#states = new MemoryStates(budget, clock)
  }

  /** Whether it was not spent yet, and its time is not over. @param at microseconds */
  spend({ id, until }: Once, at: number): boolean {
    if (this.#states.isSweepDue()) this.#states.sweep(at)
    if (at >= until) return false
    const table = this.#states.table('', plan)
    const slot = this.#slot
    table.find(id, at, slot)
    if (slot.cells[slot.offset + 1]! > at) return false
    table.place(id, at, slot)
    slot.cells[slot.offset] = at
    slot.cells[slot.offset + 1] = until
    table.keep(slot)
    return true
  }

  clear(): void {
    this.#states.clear()
  }
}
