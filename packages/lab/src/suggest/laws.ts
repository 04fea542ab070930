import { type Algorithm, inUnits, type Plan } from '@sluice/limiter/algorithms'
import { withRoom } from '@sluice/limiter/decide'
import { Releases } from '../simulate/releases.ts'

/** Decides the requests of one key after another, each of cost 1. */
export interface Law {
  /** Forgets the key so far. */
  start(): void
  /** @param at microseconds since the epoch, never before the last one @param duration microseconds; below 0: not known */
  admits(at: number, duration: number): boolean
}

/**
 * Which law of admission an algorithm has, by its traits. Algorithms of one kind admit the same: what is found for one
 * holds for all of them.
 */
export type LawKind = 'flow' | 'window' | 'log' | 'counter' | `own ${string}`

/** @param knowsEnds whether it is known when requests end, so that slots are released */
export function lawKindOf({ name, traits, options }: Algorithm, knowsEnds: boolean): LawKind {
  const { aligned, ends, flows, queues, holds } = traits
  if ('burst' in options) return flows || queues ? 'flow' : `own ${name}`
  if (aligned) return ends ? 'window' : 'counter'
  return holds && knowsEnds ? `own ${name}` : 'log'
}

/**
 * The law of a plan. Thousands of plans are tried on each log, so those that are known are written without the generality
 * of states: the figures are the same, which a test holds them to; a choice is also replayed by the algorithm itself.
 */
export function lawOf(kind: LawKind, plan: Plan): Law {
  switch (kind) {
    case 'flow':
      return new FlowLaw(plan)
    case 'window':
      return new WindowLaw(plan)
    case 'log':
      return new LogLaw(plan)
    case 'counter':
      return new CounterLaw(plan)
    default:
      return new OwnLaw(plan)
  }
}

/** What is in use drains at limit/period; counted in 1/period of a unit. */
class FlowLaw implements Law {
  readonly #unit: number
  readonly #limit: number
  readonly #period: number
  readonly #most: number
  #level = 0
  #last = 0

  constructor({ unit, limit, period, capacity }: Plan) {
    this.#unit = unit
    this.#limit = limit
    this.#period = period
    this.#most = (capacity - 1) * period
  }

  start(): void {
    this.#level = 0
    this.#last = 0
  }

  admits(at: number): boolean {
    const now = this.#unit === 1 ? at : Math.floor(at / this.#unit)
    const level = Math.max(0, this.#level - (now - this.#last) * this.#limit)
    if (level > this.#most) return false
    this.#level = level + this.#period
    this.#last = now
    return true
  }
}

/** So many in each window. */
class WindowLaw implements Law {
  readonly #ticks: number
  readonly #limit: number
  #window = -1
  #count = 0

  constructor({ unit, limit, period }: Plan) {
    this.#ticks = unit * period
    this.#limit = limit
  }

  start(): void {
    this.#window = -1
  }

  admits(at: number): boolean {
    const window = Math.floor(at / this.#ticks)
    if (window !== this.#window) {
      this.#window = window
      this.#count = 0
    }
    return this.#count < this.#limit && ++this.#count > 0
  }
}

/** So many in any period: the instants of the last ones that were admitted, in a ring. */
class LogLaw implements Law {
  readonly #ticks: number
  readonly #limit: number
  #ring: Float64Array
  #count = 0

  constructor({ unit, limit, period }: Plan) {
    this.#ticks = unit * period
    this.#limit = limit
    this.#ring = new Float64Array(limit)
  }

  start(): void {
    this.#count = 0
  }

  admits(at: number): boolean {
    if (this.#limit === 0) return false
    const place = this.#count % this.#limit
    if (this.#count >= this.#limit && at - this.#ring[place]! < this.#ticks) return false
    this.#ring[place] = at
    this.#count++
    return true
  }
}

/** The window before counts as much as the trailing period still overlaps it, rounded down. */
class CounterLaw implements Law {
  readonly #unit: number
  readonly #limit: number
  readonly #period: number
  #window = -1
  #count = 0
  #before = 0

  constructor({ unit, limit, period }: Plan) {
    this.#unit = unit
    this.#limit = limit
    this.#period = period
  }

  start(): void {
    this.#window = -1
    this.#count = 0
    this.#before = 0
  }

  admits(at: number): boolean {
    const now = this.#unit === 1 ? at : Math.floor(at / this.#unit)
    const window = Math.floor(now / this.#period)
    if (window !== this.#window) {
      this.#before = window === this.#window + 1 ? this.#count : 0
      this.#count = 0
      this.#window = window
    }
    const left = (window + 1) * this.#period - now
    const carried = Math.floor((this.#before * left) / this.#period)
    if (carried + this.#count >= this.#limit) return false
    this.#count++
    return true
  }
}

/** By the algorithm's own code, as a store runs it. */
class OwnLaw implements Law {
  readonly #plan: Plan
  readonly #releases = new Releases<number>()
  readonly #isHeld: boolean
  #cells: Float64Array
  #charges = 0

  constructor(plan: Plan) {
    this.#plan = plan
    this.#isHeld = plan.algorithm.traits.holds === true
    this.#cells = new Float64Array(plan.size)
  }

  start(): void {
    this.#cells = this.#plan.size > 0 ? this.#cells.fill(0) : new Float64Array(0)
    this.#releases.clear()
  }

  admits(at: number, duration: number): boolean {
    const plan = this.#plan
    const { algorithm } = plan
    while (this.#releases.next <= at) this.#release()
    const cells = this.#cells
    const used = Math.max(at, cells[0] ?? 0)
    const last = inUnits(plan, cells[0] ?? 0)
    const now = inUnits(plan, used)
    const left = algorithm.remaining(plan, cells, 0, last, now)
    if (left < 1) return false
    if (plan.size === 0) this.#cells = withRoom(plan, cells.length === 0 ? undefined : cells, used)
    this.#charges++
    algorithm.charge(plan, this.#cells, 0, last, now, 1, this.#charges, left)
    this.#cells[0] = used
    if (this.#isHeld && duration >= 0) this.#releases.add(at + duration, this.#charges)
    return true
  }

  /** Gives back the slot of the request that ends first. */
  #release(): void {
    const plan = this.#plan
    const ended = inUnits(plan, Math.max(this.#releases.next, this.#cells[0]!))
    plan.algorithm.refund(
      plan,
      this.#cells,
      0,
      inUnits(plan, this.#cells[0]!),
      ended,
      1,
      0,
      this.#releases.take(),
    )
  }
}
