import type { Clock } from '../../clock.ts'
import type { Cells, StatePlan } from '../../core/decide/algorithm.ts'
import {
  block,
  type Charge,
  correct,
  NO_CELLS,
  newSlot,
  run,
  type Slot,
  type States,
  withRoom,
} from '../../core/decide/run.ts'
import type { Once, Outcome, StateName, Step, Store } from '../store.ts'

/** How little a store in process needs: a Map of states, and `run` over it. It never deletes anything. */
export class MapStore implements Store<false>, States {
  readonly async = false as const
  readonly #clock: Clock
  readonly #states = new Map<string, Cells>()
  readonly #spent = new Set<string>()
  readonly #slots: Slot[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  slots(count: number): readonly Slot[] {
    while (this.#slots.length < count) this.#slots.push(newSlot())
    return this.#slots
  }

  find(namespace: string, plan: StatePlan, key: string, _now: number, slot: Slot): void {
    slot.cells = this.#states.get(nameOf(namespace, plan, key)) ?? NO_CELLS
    slot.offset = 0
  }

  place(namespace: string, plan: StatePlan, key: string, now: number, slot: Slot): void {
    const name = nameOf(namespace, plan, key)
    slot.cells = withRoom(plan, this.#states.get(name), now)
    this.#states.set(name, slot.cells)
  }

  decide(steps: readonly Step[], peek: boolean): Outcome {
    return run(steps, this, this.#clock.now(), peek)
  }

  settle(charges: readonly Charge[], once?: Once): boolean {
    const at = this.#clock.now()
    if (once !== undefined && (at >= once.until || this.#spent.has(once.id))) return false
    if (once !== undefined) this.#spent.add(once.id)
    correct(charges, this, at)
    return true
  }

  reset({ rule: { namespace, plan, block }, key }: StateName): void {
    for (const each of [plan, block]) if (each) this.#states.delete(nameOf(namespace, each, key))
  }

  block(state: StateName, ticks: number): void {
    block(state, ticks, this, this.#clock.now())
  }

  close(): void {
    this.#states.clear()
  }
}

function nameOf(namespace: string, plan: StatePlan, key: string): string {
  return JSON.stringify([namespace, plan.kind, key])
}
