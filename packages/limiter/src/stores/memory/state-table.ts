import type { Cells, StatePlan, Waits } from '../../core/decide/algorithm.ts'
import { droppableAt } from '../../core/decide/figures.ts'
import { NO_CELLS, type Slot } from '../../core/decide/run.ts'
import type { SlotSegment } from './segment.ts'

/** Where one step of the request at hand is. Reused from request to request: a store decides one at a time. */
export class MemorySlot implements Slot, Waits {
  /** The table of the request before, until `find`. */
  table: StateTable | undefined = undefined
  /** Microseconds by which the key's time is behind that of others. */
  phase = 0
  /** The table's `version` when `cells` was read: while it is the same, `cells` and what is below are right. */
  version = 0
  /** The key's slot in its table. */
  segment: SlotSegment | undefined = undefined
  at = 0
  /** A copy of its integers, where the table keeps them in another form; `cells` is this one then. */
  readonly own: Cells = new Float64Array(3)
  /** Likewise, of runs: one of each length. */
  readonly copies: Cells[] = []
  cells: Cells = NO_CELLS
  offset = 0
  /** Whether `cells` are the key's own, and a charge without a phase may be written there. */
  isInPlace = false
  last = 0
  now = 0
  ticks = 0
  left = 0
  allowed = false
  delay = 0
  blocked = 0
  retry = 0
  more = 0
  reset = 0
}

/** Where the states of one namespace are kept that have one kind of plan. */
export interface StateTable {
  /** Says when a state may be dropped, and which plans that takes into account. */
  readonly keeps: Keeps
  /** The plan asked about last: mostly the next one's too. */
  lastPlan: StatePlan
  namespace: string
  /** The namespace's next table, for another kind of plan. */
  next: StateTable | undefined
  /** Another number when a state may have been moved or written since. */
  readonly version: number
  /** Whether it holds no state, and no shared bucket. */
  readonly isEmpty: boolean
  /** Points the slot at the key's state, or at NO_CELLS where it has none. `now` is in microseconds. */
  find(key: string, now: number, slot: MemorySlot): void
  /** The same, making room for a charge, and a state where there was none. */
  place(key: string, now: number, slot: MemorySlot): void
  /** Keeps what was written to the slot's integers, since `find` or `place` and before any other call. */
  keep(slot: MemorySlot): void
  /** Whether the last sweep came to the table's end: the next one begins anew. */
  readonly isAtEnd: boolean
  /** Looks at so many places for a state, or a few more, and deletes those that have expired. @returns how many */
  sweep(looks: number, now: number): number
  /** Gives its memory back to the budget; it is not used after that. */
  drop(): void
}

/** Buckets that a table's keys beyond the cap share. */
export const OVERFLOW = 1_024

/** A store of no more keys and bytes than this deletes none: that would save less than it costs. */
export const KEPT_KEYS = 128
const KEPT_BYTES = 65_536
/** A new key brings the next sweep nearer by so many decisions. */
export const DUE_BY_KEY = 2

/** What all tables of a store hold together, and may hold. */
export class Budget {
  keys = 0
  bytes = 0
  /** Charges that went to a bucket shared by keys beyond a cap. */
  shared = 0
  /** Whether there was no room since the last sweep. */
  refused = false
  /** Decisions until the next sweep. */
  due = 0
  readonly maxKeys: number
  readonly maxBytes: number
  readonly #keptKeys: number
  readonly #keptBytes: number

  constructor(maxKeys: number, maxBytes: number) {
    this.maxKeys = maxKeys
    this.maxBytes = maxBytes
    this.#keptKeys = Math.min(KEPT_KEYS, maxKeys - 1)
    this.#keptBytes = Math.min(KEPT_BYTES, maxBytes / 2)
  }

  /** Whether nothing is deleted. */
  get isSmall(): boolean {
    return this.keys <= this.#keptKeys && this.bytes <= this.#keptBytes
  }

  get isFull(): boolean {
    return this.keys >= this.maxKeys
  }

  hasRoom(bytes: number): boolean {
    const fits = this.bytes + bytes <= this.maxBytes
    if (!fits) {
      this.refused = true
      this.due = 0
    }
    return fits
  }
}

/** The plans of a table as one. */
interface Blend {
  readonly plan: StatePlan
  /** Microseconds by which a state may mean something for longer than `plan` says. */
  readonly lag: number
}

/**
 * Blends the plans that use a table into the one that needs its states longest. A plan that is not used for as long as
 * its own states can last is left out again.
 */
export class Keeps {
  /** Whether `isLevelOver` may be asked. */
  comparesLevels: boolean
  #all: Blend
  #recent: Blend
  /** The plans in `#recent`. */
  #known: WeakSet<StatePlan>
  /** Microseconds since the epoch. */
  #until: number | undefined = undefined

  constructor(plan: StatePlan) {
    this.#recent = { plan, lag: 0 }
    this.#all = this.#recent
    this.comparesLevels = isLevel(plan)
    this.#known = new WeakSet([plan])
  }

  get plan(): StatePlan {
    return this.#all.plan
  }

  use(plan: StatePlan): void {
    if (this.#known.has(plan)) return
    this.#known.add(plan)
    this.#needs(blend(this.#all, { plan, lag: 0 }))
    this.#recent = blend(this.#recent, { plan, lag: 0 })
  }

  /** Whether a state means nothing any more. @param phase microseconds by which the key's time is behind that of others */
  isOver(cells: Cells, offset: number, now: number, phase = 0): boolean {
    return droppableAt(this.#all.plan, cells, offset, phase) + this.#all.lag <= now
  }

  /**
   * The same for a level (level.ts), in 1/period of a unit, by one product; only where `comparesLevels`. A wait that
   * rounds up is over when what has drained is no less than the level.
   */
  isLevelOver(last: number, level: number, now: number): boolean {
    const { plan, lag } = this.#all
    const since = now - lag - last
    return (
      plan.capacity === 0 || (since >= 0 && Math.min(level, plan.ceiling * plan.period) <= since * plan.limit)
    )
  }

  #needs(blend: Blend): void {
    this.#all = blend
    this.comparesLevels = isLevel(blend.plan)
  }

  /** To be called now and then. @param last the plan used last */
  renew(last: StatePlan, now: number): void {
    if (this.#until !== undefined && now >= this.#until) {
      this.#needs(this.#recent)
      this.#recent = { plan: last, lag: 0 }
      this.#known = new WeakSet([last])
      this.#until = undefined
    }
    const { period, unit, ceiling, limit } = this.plan
    // A level drains in ceiling/limit periods; windows end within two.
    this.#until ??= now + (ceiling === 0 ? 0 : period * unit * (ceiling / limit + 2))
  }
}

function isLevel({ algorithm, unit }: StatePlan): boolean {
  return algorithm.isLevel === true && unit === 1
}

/**
 * The slowest refill, the most in use, the coarsest unit. Where plans differ in more than numbers, what one of them says
 * is late by less than a period to another.
 */
function blend(a: Blend, b: Blend): Blend {
  if (b.plan.capacity === 0) return a
  if (a.plan.capacity === 0) return { ...b, lag: Math.max(a.lag, b.lag) }
  const { period, unit } = a.plan.unit < b.plan.unit ? b.plan : a.plan
  const plan = {
    ...a.plan,
    period,
    unit,
    limit: Math.min(a.plan.limit, b.plan.limit),
    capacity: Math.max(a.plan.capacity, b.plan.capacity),
    ceiling: Math.max(a.plan.ceiling, b.plan.ceiling),
  }
  return { plan, lag: Math.max(a.lag, b.lag, isSameForm(a.plan, b.plan) ? 0 : period * unit) }
}

function isSameForm(a: StatePlan, b: StatePlan): boolean {
  const words = (plan: StatePlan): unknown[] =>
    Object.values(plan).filter((value) => typeof value === 'string')
  return a.algorithm === b.algorithm && a.unit === b.unit && words(a).join() === words(b).join()
}
