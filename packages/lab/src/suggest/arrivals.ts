import { LabError } from '../lab-error.ts'
import { type BusySecond, BusySeconds } from './busy-seconds.ts'

const CHUNK = 1 << 20
/** Most requests that are held: about 20 bytes each, and 8 more where costs differ, or durations are known. */
const MOST_REQUESTS = 30_000_000

/** When the requests of each key came: all that a choice of limits needs of a log. */
export class Arrivals {
  /** Of each request, in the order of times. */
  #keys: Int32Array[] = []
  #at: Float64Array[] = []
  #duration: Float64Array[] | undefined
  /** Absent while each costs 1. */
  #cost: Float64Array[] | undefined
  readonly #seconds = new BusySeconds()
  #count = 0

  /** @param at microseconds since the epoch @param duration microseconds; below 0: not known */
  add(key: number, at: number, duration: number, cost: number): void {
    const within = this.#count % CHUNK
    if (within === 0) this.#grow()
    this.#keys.at(-1)![within] = key
    this.#at.at(-1)![within] = at
    if (duration >= 0) this.#duration ??= this.#column(-1)
    if (this.#duration !== undefined) this.#duration.at(-1)![within] = duration
    if (cost !== 1) this.#cost ??= this.#column(1)
    if (this.#cost !== undefined) this.#cost.at(-1)![within] = cost
    this.#seconds.add(at, cost)
    this.#count++
  }

  /** The requests by key. What was added is given away. */
  byKey(keys: number): KeyArrivals {
    const ends = new Int32Array(keys + 1)
    this.#each((key) => {
      ends[key + 1]!++
    })
    for (let key = 0; key < keys; key++) ends[key + 1]! += ends[key]!
    const next = ends.slice(0, keys)
    const at = new Float64Array(this.#count)
    const duration = this.#duration && new Float64Array(this.#count)
    const cost = this.#cost && new Float64Array(this.#count)
    this.#each((key, time, took, units) => {
      const place = next[key]!++
      at[place] = time
      if (duration !== undefined) duration[place] = took
      if (cost !== undefined) cost[place] = units
    })
    this.#keys = []
    this.#at = []
    this.#duration = undefined
    this.#cost = undefined
    return { keys, count: this.#count, ends, at, duration, cost, seconds: this.#seconds.busiest() }
  }

  #grow(): void {
    if (this.#count >= MOST_REQUESTS) {
      throw new LabError(
        `there are more than ${MOST_REQUESTS.toLocaleString('en-US')} requests to choose from: name fewer files, or say which requests count`,
      )
    }
    this.#keys.push(new Int32Array(CHUNK))
    this.#at.push(new Float64Array(CHUNK))
    this.#duration?.push(new Float64Array(CHUNK).fill(-1))
    this.#cost?.push(new Float64Array(CHUNK).fill(1))
  }

  /** A column that begins late. */
  #column(value: number): Float64Array[] {
    return this.#at.map(() => new Float64Array(CHUNK).fill(value))
  }

  #each(take: (key: number, at: number, duration: number, cost: number) => void): void {
    for (let i = 0; i < this.#count; i++) {
      const chunk = (i / CHUNK) | 0
      const within = i % CHUNK
      take(
        this.#keys[chunk]![within]!,
        this.#at[chunk]![within]!,
        this.#duration?.[chunk]?.[within] ?? -1,
        this.#cost?.[chunk]?.[within] ?? 1,
      )
    }
  }
}

/** Requests by key: those of key k stand from `ends[k]` to `ends[k + 1]`, in the order of times. */
export interface KeyArrivals {
  readonly keys: number
  /** Of requests. */
  readonly count: number
  readonly ends: Int32Array
  /** Microseconds since the epoch. */
  readonly at: Float64Array
  /** Microseconds; below 0: not known. Absent where the log never says. */
  readonly duration: Float64Array | undefined
  /** What each costs. Absent where each costs 1. */
  readonly cost: Float64Array | undefined
  /** Those in which the most is asked for, most first. */
  readonly seconds: readonly BusySecond[]
}

/** The most that one key asks for within any `window` microseconds, for each key: requests, or what they cost. */
export function peaksOf({ keys, ends, at, cost }: KeyArrivals, window: number): Float64Array {
  const peaks = new Float64Array(keys)
  for (let key = 0; key < keys; key++) {
    let first = ends[key]!
    let [inWindow, peak] = [0, 0]
    for (let i = first; i < ends[key + 1]!; i++) {
      inWindow += cost === undefined ? 1 : cost[i]!
      for (; at[i]! - at[first]! >= window; first++) inWindow -= cost === undefined ? 1 : cost[first]!
      peak = Math.max(peak, inWindow)
    }
    peaks[key] = peak
  }
  return peaks
}

/** The least that a request costs, at least 1. */
export function leastCost({ cost = NO_COSTS }: KeyArrivals): number {
  if (cost.length === 0) return 1
  return Math.max(
    1,
    cost.reduce((least, units) => Math.min(least, units)),
  )
}

const NO_COSTS: Float64Array = /* @__PURE__ */ new Float64Array(0)

/** What all requests cost together. */
export function totalCost({ count, cost }: KeyArrivals): number {
  return cost === undefined ? count : cost.reduce((sum, units) => sum + units, 0)
}

/** When the first and the last request came, as in ISO 8601. */
export function spanOfArrivals({ at }: KeyArrivals): [string | null, string | null] {
  if (at.length === 0) return [null, null]
  let [first, last] = [at[0]!, at[0]!]
  for (const time of at) {
    if (time < first) first = time
    if (time > last) last = time
  }
  return [new Date(first / 1_000).toISOString(), new Date(last / 1_000).toISOString()]
}
