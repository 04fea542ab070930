import { type Algorithm, inUnits, type Plan } from '@sluice/limiter/algorithms'
import { withRoom } from '@sluice/limiter/decide'
import { Releases } from '../simulate/releases.ts'

/** Decides the requests of one key after another. One that costs nothing is always admitted. */
export interface Law {
  /** Forgets the key so far. */
  start(): void
  /** @param at microseconds since the epoch, never before the last one @param duration microseconds; below 0: not known */
  admits(at: number, duration: number, cost: number): boolean
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
  readonly #capacity: number
  #level = 0
  #last = 0

  constructor({ unit, limit, period, capacity }: Plan) {
    this.#unit = unit
    this.#limit = limit
    this.#period = period
    this.#capacity = capacity
  }

  start(): void {
    this.#level = 0
    this.#last = 0
  }

  admits(at: number, _duration: number, cost: number): boolean {
    if (cost === 0) return true
    const now = this.#unit === 1 ? at : Math.floor(at / this.#unit)
    const level = Math.max(0, this.#level - (now - this.#last) * this.#limit)
    if (level > (this.#capacity - cost) * this.#period) return false
    this.#level = level + cost * this.#period
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

  admits(at: number, _duration: number, cost: number): boolean {
    const window = Math.floor(at / this.#ticks)
    if (window !== this.#window) {
      this.#window = window
      this.#count = 0
    }
    if (cost > 0 && cost > this.#limit - this.#count) return false
    this.#count += cost
    return true
  }
}

/** So many in any period: what was admitted, and when, as far as it may still count. */
class LogLaw implements Law {
  readonly #ticks: number
  readonly #limit: number
  #at = new Float64Array(64)
  #cost = new Float64Array(64)
  /** The entries that count stand from `first` to `end`, in a ring. */
  #first = 0
  #end = 0
  #used = 0

  constructor({ unit, limit, period }: Plan) {
    this.#ticks = unit * period
    this.#limit = limit
  }

  start(): void {
    this.#first = 0
    this.#end = 0
    this.#used = 0
  }

  admits(at: number, _duration: number, cost: number): boolean {
    if (cost === 0) return true
    for (const last = at - this.#ticks; this.#first < this.#end; this.#first++) {
      const place = this.#first & (this.#at.length - 1)
      if (this.#at[place]! > last) break
      this.#used -= this.#cost[place]!
    }
    if (cost > this.#limit - this.#used) return false
    if (this.#end - this.#first === this.#at.length) this.#grow()
    const place = this.#end++ & (this.#at.length - 1)
    this.#at[place] = at
    this.#cost[place] = cost
    this.#used += cost
    return true
  }

  #grow(): void {
    const size = this.#at.length
    const [at, cost] = [new Float64Array(size * 2), new Float64Array(size * 2)]
    for (let i = 0; i < size; i++) {
      at[i] = this.#at[(this.#first + i) & (size - 1)]!
      cost[i] = this.#cost[(this.#first + i) & (size - 1)]!
    }
    this.#at = at
    this.#cost = cost
    this.#first = 0
    this.#end = size
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

  admits(at: number, _duration: number, cost: number): boolean {
    if (cost === 0) return true
    const now = this.#unit === 1 ? at : Math.floor(at / this.#unit)
    const window = Math.floor(now / this.#period)
    if (window !== this.#window) {
      this.#before = window === this.#window + 1 ? this.#count : 0
      this.#count = 0
      this.#window = window
    }
    const left = (window + 1) * this.#period - now
    const carried = Math.floor((this.#before * left) / this.#period)
    if (cost > this.#limit - carried - this.#count) return false
    this.#count += cost
    return true
  }
}

/** A charge that holds slots. */
interface OwnCharge {
  readonly id: number
  readonly cost: number
}

/** By the algorithm's own code, as a store runs it. */
class OwnLaw implements Law {
  readonly #plan: Plan
  readonly #releases = new Releases<OwnCharge>()
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

  admits(at: number, duration: number, cost: number): boolean {
    if (cost === 0) return true
    const plan = this.#plan
    const { algorithm } = plan
    while (this.#releases.next <= at) this.#release()
    const cells = this.#cells
    const used = Math.max(at, cells[0] ?? 0)
    const last = inUnits(plan, cells[0] ?? 0)
    const now = inUnits(plan, used)
    const left = algorithm.remaining(plan, cells, 0, last, now)
    if (left < cost) return false
    if (plan.size === 0) this.#cells = withRoom(plan, cells.length === 0 ? undefined : cells, used)
    this.#charges++
    algorithm.charge(plan, this.#cells, 0, last, now, cost, this.#charges, left)
    this.#cells[0] = used
    if (this.#isHeld && duration >= 0) this.#releases.add(at + duration, { id: this.#charges, cost })
    return true
  }

  /** Gives back the slot of the request that ends first. */
  #release(): void {
    const plan = this.#plan
    const ended = inUnits(plan, Math.max(this.#releases.next, this.#cells[0]!))
    const { id, cost } = this.#releases.take()
    plan.algorithm.refund(plan, this.#cells, 0, inUnits(plan, this.#cells[0]!), ended, cost, 0, id)
  }
}
