import { type Clock, monotonicClock } from '../clock.ts'
import type { Cells } from '../core/decide/algorithm.ts'
import { admitted } from '../core/decide/combine.ts'
import { type Figures, figuresOf, instantOf, inUnits, type Look } from '../core/decide/figures.ts'
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
  readonly #shelves = new Map<string, Shelf>()
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
    // Most requests meet one policy; what they run through is kept short.
    return steps.length === 1 ? this.#decideOne(steps[0]!, peek, at) : this.#decideAll(steps, peek, at)
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

  #decideOne(step: Step, peek: boolean, at: number): Outcome {
    const spot = this.#spot(0)
    look(step, spot, this.#shelf(step), at)
    if (!peek && isCharged(step, spot)) charge(step, spot, false)
    return { allowed: spot.allowed || step.role === 'shadow', at, figures: [read(step, spot)] }
  }

  #decideAll(steps: readonly Step[], peek: boolean, at: number): Outcome {
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
        charge(steps[i]!, spots[i]!, true)
        figures[i] = read(steps[i]!, spots[i]!)
      }
    }
    return { allowed, at, figures }
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
    const first = this.#shelves.get(policy)
    for (let shelf = first; shelf !== undefined; shelf = shelf.next) {
      if (shelf.lastPlan === plan) return shelf
      if (shelf.keeps.kind !== plan.kind) continue
      keepFor(shelf, plan)
      return shelf
    }
    const shelf = new (plan.size === 0 ? Runs : Table)(plan, this.#budget, this.#print)
    shelf.next = first
    this.#shelves.set(policy, shelf)
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
interface Spot extends Look {
  shelf: Shelf
}

function newSpot(): Spot {
  return {
    shelf: undefined as never,
    cells: NONE,
    cell: 0,
    now: 0,
    ticks: 0,
    left: 0,
    allowed: false,
    delay: 0,
  }
}

function look({ plan, key, cost, phase = 0 }: Step, spot: Spot, shelf: Shelf, at: number): void {
  const ticks = at - phase
  if (phase > 0) shelf.lag = Math.max(shelf.lag, Math.ceil(phase / plan.unit))
  const clock = inUnits(plan, ticks)
  const cell = shelf.locate(key, clock)
  spot.shelf = shelf
  spot.cells = cell < 0 ? NONE : shelf.cells
  spot.cell = Math.max(cell, 0)
  spot.ticks = ticks
  const { cells } = spot
  const now = instantOf(cells, spot.cell, clock)
  spot.now = now
  spot.left = plan.algorithm.remaining(plan, cells, spot.cell, now)
  spot.allowed = cost === 0 || cost <= spot.left
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
    // Beyond the cap another key of the request may just have charged the bucket that this one shares.
    if (moved) spot.left = plan.algorithm.remaining(plan, spot.cells, spot.cell, now)
  }
  plan.algorithm.charge(plan, spot.cells, spot.cell, now, cost, lease, spot.left)
  spot.cells[spot.cell] = now
  spot.left -= cost
}

function read({ plan, cost }: Step, spot: Spot): Figures {
  return figuresOf(plan, spot, cost)
}
