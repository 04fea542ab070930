import type { Cells, StatePlan } from './algorithm.ts'
import { droppableAt } from './figures.ts'
import { NO_CELLS, newSlot, type Slot, type States, withRoom } from './run.ts'
import { type StateName, stateText } from './step.ts'

/** What names one state of integers. */
export interface StateRef {
  readonly namespace: string
  readonly plan: StatePlan
  readonly key: string
}

/** A state that a run has changed. */
export interface ChangedState {
  /** Its place among the references that were loaded. */
  readonly index: number
  readonly cells: Cells
  /** Microseconds since the epoch: from then on the state means the same as none, and may be deleted. */
  readonly expiresAt: number
}

/**
 * All states that the steps of a request may read or write: those of their rules, and of their blocks.
 * @example
 * const cells = await Promise.all(statesOf(steps).map(load))
 */
export function statesOf(steps: readonly StateName[]): readonly StateRef[] {
  const refs = new Map<string, StateRef>()
  for (const { rule, key } of steps) {
    for (const plan of [rule.plan, rule.block]) {
      if (plan === undefined) continue
      const ref = { namespace: rule.namespace, plan, key }
      refs.set(stateText(rule.namespace, plan, key), ref)
    }
  }
  return [...refs.values()]
}

/**
 * The states of one request, loaded before a run and compared after it: for a store that can only get, and set where
 * nothing has changed meanwhile (compare-and-swap). With it, such a store runs any algorithm:
 * load `statesOf(steps)`, `run` over them, swap `changed()`; and begin again where the swap fails.
 * @example
 * const refs = statesOf(steps)
 * const states = new LoadedStates(refs, await Promise.all(refs.map(load)))
 * const outcome = run(steps, states, clock.now(), false)
 * const done = await swap(states.changed())
 */
export class LoadedStates implements States {
  readonly #refs: readonly StateRef[]
  readonly #loaded: readonly (readonly number[] | undefined)[]
  readonly #cells = new Map<string, Cells>()
  /** The plans that asked for a state, and their phases: the most patient one decides when it may be deleted. */
  readonly #users = new Map<string, { readonly plan: StatePlan; readonly phase: number }[]>()
  readonly #slots: Slot[] = []

  /** @param cells the integers of each state, as they were read; `undefined` where there is none */
  constructor(refs: readonly StateRef[], cells: readonly (readonly number[] | undefined)[]) {
    this.#refs = refs
    this.#loaded = cells
    refs.forEach(({ namespace, plan, key }, i) => {
      if (cells[i] !== undefined)
        this.#cells.set(stateText(namespace, plan, key), Float64Array.from(cells[i]))
    })
  }

  slots(count: number): readonly Slot[] {
    while (this.#slots.length < count) this.#slots.push(newSlot())
    return this.#slots
  }

  find(namespace: string, plan: StatePlan, key: string, _now: number, slot: Slot, phase: number): void {
    const name = stateText(namespace, plan, key)
    const users = this.#users.get(name)
    if (users === undefined) this.#users.set(name, [{ plan, phase }])
    else users.push({ plan, phase })
    slot.cells = this.#cells.get(name) ?? NO_CELLS
    slot.offset = 0
  }

  place(namespace: string, plan: StatePlan, key: string, now: number, slot: Slot): void {
    const name = stateText(namespace, plan, key)
    slot.cells = withRoom(plan, this.#cells.get(name), now)
    this.#cells.set(name, slot.cells)
  }

  /** The states that differ from what was loaded. */
  changed(): readonly ChangedState[] {
    return this.#refs.flatMap(({ namespace, plan, key }, index) => {
      const name = stateText(namespace, plan, key)
      const cells = this.#cells.get(name)
      if (cells === undefined || isSame(cells, this.#loaded[index])) return []
      const users = this.#users.get(name) ?? []
      const ends = users.map(({ plan, phase }) => droppableAt(plan, cells, 0, phase))
      return [{ index, cells, expiresAt: Math.max(...ends) }]
    })
  }
}

function isSame(cells: Cells, loaded: readonly number[] | undefined): boolean {
  return cells.length === loaded?.length && cells.every((cell, i) => cell === loaded[i])
}
