import type { KeyCounts } from './key-counts.ts'

/**
 * Counts of the most frequent keys of a stream, in memory that does not grow: Space-Saving (Metwally, Agrawal and
 * El Abbadi, 2005). With m counters, after N keys, every key that came more than N/m times is listed, and no count is
 * wrong by more than N/m: a new key takes over the counter with the lowest count, and what that had counted is the
 * most by which the new one may be too high. A heap finds the lowest, so a key costs O(log m) whatever comes.
 */
export class SpaceSaving {
  readonly #most: number
  /** The counter of each key that has one. */
  readonly #counters = new Map<string, number>()
  readonly #keys: string[] = []
  readonly #counts: Float64Array
  /** By how much each count may be too high. */
  readonly #errors: Float64Array
  /** Counters, the lowest first; and where in it each counter is. */
  readonly #heap: Int32Array
  readonly #places: Int32Array
  #total = 0

  /** @param most counters, ≥ 1 */
  constructor(most: number) {
    this.#most = most
    this.#counts = new Float64Array(most)
    this.#errors = new Float64Array(most)
    this.#heap = new Int32Array(most)
    this.#places = new Int32Array(most)
  }

  /** Keys that came since it was made, or cleared. */
  get total(): number {
    return this.#total
  }

  add(key: string): void {
    this.#total++
    const known = this.#counters.get(key)
    if (known !== undefined) {
      this.#counts[known]!++
      this.#sink(this.#places[known]!)
      return
    }
    const size = this.#keys.length
    if (size < this.#most) this.#begin(key, size)
    else this.#takeOver(key, this.#heap[0]!)
  }

  clear(): void {
    this.#total = 0
    this.#counters.clear()
    this.#keys.length = 0
  }

  /** What is counted, the highest first. */
  counts(): KeyCounts {
    const lowest = this.#keys.length < this.#most ? 0 : this.#counts[this.#heap[0]!]!
    const keys = this.#keys.map((key, i) => ({
      key,
      atLeast: this.#counts[i]! - this.#errors[i]!,
      atMost: this.#counts[i]!,
    }))
    return { total: this.#total, unlisted: lowest, keys: keys.sort((a, b) => b.atMost - a.atMost) }
  }

  #begin(key: string, counter: number): void {
    this.#keys.push(key)
    this.#counters.set(key, counter)
    this.#counts[counter] = 1
    this.#errors[counter] = 0
    let place = counter
    while (place > 0) {
      const above = (place - 1) >> 1
      if (this.#counts[this.#heap[above]!]! <= 1) break
      this.#put(this.#heap[above]!, place)
      place = above
    }
    this.#put(counter, place)
  }

  #takeOver(key: string, counter: number): void {
    this.#counters.delete(this.#keys[counter]!)
    this.#counters.set(key, counter)
    this.#keys[counter] = key
    this.#errors[counter] = this.#counts[counter]!
    this.#counts[counter]!++
    this.#sink(0)
  }

  /** Puts a counter that has grown where it belongs. */
  #sink(from: number): void {
    const heap = this.#heap
    const counts = this.#counts
    const size = this.#keys.length
    const counter = heap[from]!
    const count = counts[counter]!
    let place = from
    for (let below = 2 * place + 1; below < size; below = 2 * place + 1) {
      const right = below + 1
      if (right < size && counts[heap[right]!]! < counts[heap[below]!]!) below = right
      if (counts[heap[below]!]! >= count) break
      this.#put(heap[below]!, place)
      place = below
    }
    if (place !== from) this.#put(counter, place)
  }

  #put(counter: number, place: number): void {
    this.#heap[place] = counter
    this.#places[counter] = place
  }
}
