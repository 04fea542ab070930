import { type Clock, monotonicClock } from '../clock.ts'
import type { Cells } from '../core/decide/algorithm.ts'
import { admitted } from '../core/decide/combine.ts'
import { type Figures, figuresOf, instantOf } from '../core/decide/figures.ts'
import type { Step } from '../core/decide/step.ts'
import { ConfigError } from '../core/errors.ts'
import { Fingerprint } from './memory/fingerprint.ts'
import { Runs } from './memory/runs.ts'
import { DROPS_ABOVE, type KeyBudget, keepFor, type Shelf } from './memory/shelf.ts'
import { Table } from './memory/table.ts'
import type { Charge, Once, Outcome, Store } from './store.ts'

export interface MemoryStoreOptions {
  /** Default: monotonic, anchored to the wall clock when the process began. */
  readonly clock?: Clock
  /** Most keys held at once, over all policies. Beyond it new keys share buckets; nobody is forgotten. Default 10,000,000. */
  readonly maxKeys?: number
}

/** Integers of a key never seen. */
const NONE: Cells = new Float64Array(8)
/** Every so many decisions, so many states are looked at for dropping. */
const SWEEP_EVERY = 8

/** Keeps state in this process, and answers at once. */
export class MemoryStore implements Store<false> {
  readonly async = false as const
  readonly #clock: Clock
  readonly #budget: KeyBudget
  readonly #print = new Fingerprint(Math.random)
  readonly #shelves = new Map<string, Shelf[]>()
  readonly #order: Shelf[] = []
  readonly #spent = new Map<string, number>()
  readonly #spots: Spot[] = []
  #decisions = 0

  constructor(options: MemoryStoreOptions = {}) {
    const { clock = monotonicClock(), maxKeys = 10_000_000 } = options
    if (!(Number.isSafeInteger(maxKeys) && maxKeys > 0))
      throw new ConfigError('maxKeys must be a whole number above 0')
    this.#clock = clock
    this.#budget = { keys: 0, max: maxKeys, shared: 0 }
  }

  /** Keys held now; some of them may be waiting to be swept. */
  get size(): number {
    return this.#budget.keys
  }

  /** Charges so far that fell to keys beyond `maxKeys`, who share buckets. */
  get sharedCharges(): number {
    return this.#budget.shared
  }

  decide(steps: readonly Step[], peek: boolean): Outcome {
    const at = this.#clock.now()
    if (++this.#decisions % SWEEP_EVERY === 0) this.#sweep(at)
    const spots = this.#spots
    for (let i = 0; i < steps.length; i++) look(steps[i]!, this.#spot(i), this.#shelf(steps[i]!), at)
    const allowed = admitted(steps, spots)
    const charges = allowed && !peek
    if (!allowed && !peek) this.#tellGuards(steps, at) // before they are read: one may block from now on
    const figures: Figures[] = new Array(steps.length)
    // A charge may move other states of its shelf: what is not charged is read before anything is.
    for (let i = 0; i < steps.length; i++) {
      if (!(charges && isCharged(steps[i]!, spots[i]!))) figures[i] = read(steps[i]!, spots[i]!)
    }
    if (charges) {
      for (let i = 0; i < steps.length; i++) {
        if (!isCharged(steps[i]!, spots[i]!)) continue
        charge(steps[i]!, spots[i]!, steps.length > 1)
        figures[i] = read(steps[i]!, spots[i]!)
      }
    }
    return { allowed, at, figures }
  }

  settle(charges: readonly Charge[], once?: Once): boolean {
    const at = this.#clock.now()
    if (once !== undefined && !this.#spend(once, at)) return false
    for (const { step, at: chargedAt, change } of charges) {
      const { plan, phase = 0, lease = 0 } = step
      const spot = this.#spot(0)
      look(step, spot, this.#shelf(step), at)
      if (change > 0) charge({ ...step, cost: change }, spot, true)
      else if (change < 0 && spot.cells !== NONE) {
        const charged = Math.floor((chargedAt - phase) / plan.unit)
        plan.algorithm.refund(plan, spot.cells, spot.cell, spot.now, -change, charged, lease)
      }
    }
    return true
  }

  reset(step: Pick<Step, 'plan' | 'policy' | 'key'>): void {
    const shelf = this.#shelf(step)
    const cell = shelf.locate(step.key, 0)
    if (cell >= 0) shelf.cells.fill(0, cell, step.plan.size === 0 ? undefined : cell + step.plan.size)
  }

  close(): void {
    this.#shelves.clear()
    this.#order.length = 0
    this.#spent.clear()
    this.#budget.keys = 0
  }

  #tellGuards(steps: readonly Step[], at: number): void {
    for (let i = 0; i < steps.length; i++) {
      const { role, watches = -1, plan, key } = steps[i]!
      if (role !== 'guard' || this.#spots[watches]?.allowed !== false) continue
      const { shelf, now } = this.#spots[i]!
      const cell = shelf.place(key, now)
      plan.algorithm.refuse!(plan, shelf.cells, cell, now)
      shelf.cells[cell] = now
    }
    for (let i = 0; i < steps.length; i++) {
      if (steps[i]!.role === 'guard') look(steps[i]!, this.#spots[i]!, this.#spots[i]!.shelf, at)
    }
  }

  /** A policy has one shelf for each kind of plan: a changed limit keeps what was used, a changed law starts anew. */
  #shelf({ policy, plan }: Pick<Step, 'plan' | 'policy'>): Shelf {
    const shelves = this.#shelves.get(policy)
    if (shelves !== undefined) {
      for (const shelf of shelves) {
        if (shelf.keeps.kind !== plan.kind) continue
        if (shelf.lastPlan !== plan) keepFor(shelf, plan)
        return shelf
      }
    }
    const shelf = new (plan.size === 0 ? Runs : Table)(plan, this.#budget, this.#print)
    if (shelves === undefined) this.#shelves.set(policy, [shelf])
    else shelves.push(shelf)
    this.#order.push(shelf)
    return shelf
  }

  #spot(index: number): Spot {
    if (index === this.#spots.length) this.#spots.push(newSpot())
    return this.#spots[index]!
  }

  #sweep(at: number): void {
    if (this.#budget.keys <= DROPS_ABOVE) return
    const shelf = this.#order[(this.#decisions / SWEEP_EVERY) % this.#order.length]!
    shelf.sweep(SWEEP_EVERY, Math.floor(at / shelf.keeps.unit))
  }

  /** Ids are dropped from the front, in the order in which they were spent: their times differ little. */
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

/** Where one step of the request at hand stands. Reused from request to request: a store decides one at a time. */
interface Spot {
  shelf: Shelf
  cells: Cells
  cell: number
  /** The instant that counts, in the plan's units, and the clock's reading with the key's phase, in microseconds. */
  now: number
  ticks: number
  allowed: boolean
  delay: number
}

function newSpot(): Spot {
  return { shelf: undefined as never, cells: NONE, cell: 0, now: 0, ticks: 0, allowed: false, delay: 0 }
}

function look({ plan, key, cost, phase = 0 }: Step, spot: Spot, shelf: Shelf, at: number): void {
  const ticks = at - phase
  if (phase > 0) shelf.lag = Math.max(shelf.lag, Math.ceil(phase / plan.unit))
  const cell = shelf.locate(key, plan.unit === 1 ? ticks : Math.floor(ticks / plan.unit))
  spot.shelf = shelf
  spot.cells = cell < 0 ? NONE : shelf.cells
  spot.cell = Math.max(cell, 0)
  spot.ticks = ticks
  const { cells } = spot
  const now = instantOf(plan, cells, spot.cell, ticks)
  spot.now = now
  spot.allowed = cost === 0 || cost <= plan.algorithm.remaining(plan, cells, spot.cell, now)
  spot.delay =
    spot.allowed && cost > 0 && plan.algorithm.delay !== undefined
      ? plan.algorithm.delay(plan, cells, spot.cell, now)
      : 0
}

function isCharged(step: Step, spot: Spot): boolean {
  return spot.allowed && step.cost > 0 && step.role !== 'guard'
}

function charge({ plan, key, cost, lease = 0 }: Step, spot: Spot, moved: boolean): void {
  const { now } = spot
  if (moved || spot.cells === NONE || plan.size === 0) {
    spot.cell = spot.shelf.place(key, now)
    spot.cells = spot.shelf.cells
  }
  plan.algorithm.charge(plan, spot.cells, spot.cell, now, cost, lease)
  spot.cells[spot.cell] = now
}

function read({ plan, cost }: Step, { cells, cell, now, ticks, allowed, delay }: Spot): Figures {
  return figuresOf(plan, cells, cell, now, ticks, cost, allowed, delay)
}
