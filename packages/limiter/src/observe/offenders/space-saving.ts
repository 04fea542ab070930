import type { KeyCounts } from './key-counts.ts'
import { KeyTable, keyHash } from './key-table.ts'

/**
 * Counts of the most frequent keys of a stream, in memory that does not grow: Space-Saving (Metwally, Agrawal and
 * El Abbadi, 2005). With m counters, after N keys, every key that came more than N/m times is listed, and no count is
 * wrong by more than N/m: a new key takes over the counter with the lowest count, and what that had counted is the
 * most by which the new one may be too high. A heap finds the lowest, so a key costs O(log m) on average, whatever comes.
 */
export class SpaceSaving {
  readonly #most: number
  /** The keys that have a counter. */
  readonly #table: KeyTable
  readonly #counts: Float64Array
  /** By how much each count may be too high. */
  readonly #errors: Float64Array
  /** Counters, the lowest first by their ranks: what each had counted when it was put there, never more than its count. */
  readonly #heap: Int32Array
  readonly #ranks: Float64Array
  #total = 0

  /** @param most counters, ≥ 1 */
  constructor(most: number) {
    this.#most = most
    this.#table = new KeyTable(most)
    this.#counts = new Float64Array(most)
    this.#errors = new Float64Array(most)
    this.#heap = new Int32Array(most)
    this.#ranks = new Float64Array(most)
  }

  /** Keys that came since it was made, or cleared. */
  get total(): number {
    return this.#total
  }

  /** @param hash of the key, where it is known already */
  add(key: string, hash: number = keyHash(key)): void {
    this.#total++
    const known = this.#table.find(key, hash)
    if (known >= 0)
      this.#counts[known]!++ // it sinks when it is looked at
    else if (this.#isFull) this.#takeOver(this.#lowest(), key, hash)
    else this.#begin(this.#table.keys.length, key, hash)
  }

  clear(): void {
    this.#total = 0
    this.#table.clear()
  }

  /** What is counted, the highest first. */
  counts(): KeyCounts {
    const keys = this.#table.keys.map((key, i) => ({
      key,
      atLeast: this.#counts[i]! - this.#errors[i]!,
      atMost: this.#counts[i]!,
    }))
    return {
      total: this.#total,
      unlisted: this.#isFull ? this.#counts[this.#lowest()]! : 0,
      keys: keys.sort((a, b) => b.atMost - a.atMost),
    }
  }

  get #isFull(): boolean {
    return this.#table.keys.length === this.#most
  }

  /** Until there is one for every key, all ranks are 1, and no counter is lower than another. */
  #begin(counter: number, key: string, hash: number): void {
    this.#table.put(counter, key, hash)
    this.#counts[counter] = 1
    this.#errors[counter] = 0
    this.#ranks[counter] = 1
    this.#heap[counter] = counter
  }

  #takeOver(counter: number, key: string, hash: number): void {
    this.#table.put(counter, key, hash)
    this.#errors[counter] = this.#counts[counter]!
    this.#counts[counter]!++
  }

  /** A counter with the lowest count: the first whose rank is its count, since all others rank as high. */
  #lowest(): number {
    for (;;) {
      const first = this.#heap[0]!
      const count = this.#counts[first]!
      if (this.#ranks[first] === count) return first
      this.#ranks[first] = count
      this.#sink(first, count)
    }
  }

  /** Puts the first counter, which has grown, where it belongs. */
  #sink(counter: number, rank: number): void {
    const heap = this.#heap
    const ranks = this.#ranks
    const size = heap.length
    let place = 0
    for (let below = 1; below < size; below = 2 * place + 1) {
      const right = below + 1
      if (right < size && ranks[heap[right]!]! < ranks[heap[below]!]!) below = right
      if (ranks[heap[below]!]! >= rank) break
      heap[place] = heap[below]!
      place = below
    }
    heap[place] = counter
  }
}
