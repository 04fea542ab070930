import type { TrafficBatch } from './traffic-batch.ts'

/** Brings requests into the order of their times, as far as it can hold them; those of one time stay in the log's order. */
export class Sorter<T> {
  readonly #capacity: number
  #at: Float64Array
  #duration: Float64Array
  #made: T[] = []
  #isSorted = true
  #reached = 0
  #late = 0

  /** @param capacity most requests held at once; a log no longer than that is sorted as a whole. At least 2 */
  constructor(capacity: number) {
    this.#capacity = capacity
    this.#at = new Float64Array(Math.min(capacity + 1, 1_024))
    this.#duration = new Float64Array(this.#at.length)
  }

  /** Those that came too late to be put in their place: they stand at the time that had been reached. */
  get late(): number {
    return this.#late
  }

  /** Takes a request, and gives back the earlier half when it holds too many. */
  push(at: number, duration: number, made: T): TrafficBatch<T> | undefined {
    const length = this.#made.length
    if (length === this.#at.length) this.#grow()
    if (length > 0 && at < this.#at[length - 1]!) this.#isSorted = false
    this.#at[length] = at
    this.#duration[length] = duration
    this.#made.push(made)
    return length >= this.#capacity ? this.#release(Math.ceil(this.#capacity / 2)) : undefined
  }

  /** Gives back all that is held. */
  flush(): TrafficBatch<T> {
    return this.#release(this.#made.length)
  }

  #grow(): void {
    const size = Math.min(this.#capacity + 1, this.#at.length * 2)
    this.#at = copyOf(this.#at, size)
    this.#duration = copyOf(this.#duration, size)
  }

  #release(count: number): TrafficBatch<T> {
    if (!this.#isSorted) this.#sort()
    const at = this.#at.slice(0, count)
    const duration = this.#duration.slice(0, count)
    const made = this.#made.slice(0, count)
    const kept = this.#made.length
    this.#at.copyWithin(0, count, kept)
    this.#duration.copyWithin(0, count, kept)
    this.#made = this.#made.slice(count)
    for (let i = 0; i < count && at[i]! < this.#reached; i++) {
      at[i] = this.#reached
      this.#late++
    }
    if (count > 0) this.#reached = at[count - 1]!
    return { length: count, at, duration, made }
  }

  #sort(): void {
    const times = this.#at
    const order = this.#made.map((_, i) => i).sort((a, b) => times[a]! - times[b]!)
    const at = new Float64Array(times.length)
    const duration = new Float64Array(times.length)
    order.forEach((from, to) => {
      at[to] = times[from]!
      duration[to] = this.#duration[from]!
    })
    this.#made = order.map((from) => this.#made[from]!)
    this.#at = at
    this.#duration = duration
    this.#isSorted = true
  }
}

function copyOf(from: Float64Array, size: number): Float64Array {
  const copy = new Float64Array(size)
  copy.set(from)
  return copy
}
