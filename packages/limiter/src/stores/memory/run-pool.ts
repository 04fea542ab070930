import type { Cells } from '../../core/decide/algorithm.ts'
import type { Budget } from './state-table.ts'

/** Runs in a chunk. The first chunk begins with a few, and doubles. */
const CHUNK = 256
const FEWEST = 4

/**
 * Runs of one length, each with its key's fingerprint, and no gap between them: the last one takes the place of one that
 * is removed, so that chunks are given back.
 */
export class RunPool {
  count = 0
  readonly length: number
  readonly #stride: number
  readonly #budget: Budget
  readonly #chunks: Cells[] = []
  #capacity = 0

  constructor(length: number, budget: Budget) {
    this.length = length
    this.#stride = length + 1
    this.#budget = budget
  }

  /** Bytes that one more run takes, beyond those there are. */
  get bytesToAdd(): number {
    return this.count < this.#capacity ? 0 : this.#bytes(Math.min(CHUNK, Math.max(FEWEST, this.#capacity)))
  }

  /** @returns the number of a run that is not written yet */
  add(high: number, low: number): number {
    const number = this.count
    if (number === this.#capacity) {
      if (number < CHUNK) this.#resizeFirst(Math.max(FEWEST, 2 * number))
      else {
        this.#chunks.push(new Float64Array(CHUNK * this.#stride))
        this.#setCapacity(number + CHUNK)
      }
    }
    this.count++
    const prints = printsOf(this.#chunk(number))
    prints[2 * this.#at(number)] = high
    prints[2 * this.#at(number) + 1] = low
    return number
  }

  /** Copies a run to the front of `to`. */
  read(number: number, to: Cells): void {
    const chunk = this.#chunk(number)
    const at = this.#at(number) + 1
    for (let i = 0; i < this.length; i++) to[i] = chunk[at + i]!
  }

  /** @param from no longer than a run; what it lacks is 0 */
  write(number: number, from: Cells): void {
    const chunk = this.#chunk(number)
    const at = this.#at(number) + 1
    for (let i = 0; i < this.length; i++) chunk[at + i] = i < from.length ? from[i]! : 0
  }

  /** @returns the fingerprint, high and low, of the run that has this number now; none where it was the last */
  remove(number: number): readonly [number, number] | undefined {
    const last = --this.count
    const from = this.#chunk(last)
    const at = this.#at(last)
    const prints = printsOf(from)
    const moved = [prints[2 * at]!, prints[2 * at + 1]!] as const
    if (last !== number) {
      const to = this.#chunk(number)
      to.set(from.subarray(at, at + this.#stride), this.#at(number))
    }
    if (this.#capacity > CHUNK && last <= this.#capacity - CHUNK - CHUNK / 2) {
      this.#chunks.pop()
      this.#setCapacity(this.#capacity - CHUNK)
    } else if (last === 0) this.#resizeFirst(0)
    else if (this.#capacity > FEWEST && this.#capacity <= CHUNK && last <= this.#capacity / 4)
      this.#resizeFirst(this.#capacity / 2)
    return last === number ? undefined : moved
  }

  drop(): void {
    this.#setCapacity(0)
  }

  #chunk(number: number): Cells {
    return this.#chunks[(number / CHUNK) | 0]!
  }

  #at(number: number): number {
    return (number % CHUNK) * this.#stride
  }

  #bytes(runs: number): number {
    return runs * this.#stride * Float64Array.BYTES_PER_ELEMENT
  }

  #setCapacity(runs: number): void {
    this.#budget.bytes += this.#bytes(runs - this.#capacity)
    this.#capacity = runs
  }

  #resizeFirst(runs: number): void {
    const chunk = new Float64Array(runs * this.#stride)
    const before = this.#chunks[0]
    if (before !== undefined) chunk.set(before.subarray(0, Math.min(chunk.length, before.length)))
    this.#chunks[0] = chunk
    this.#setCapacity(runs)
  }
}

function printsOf(chunk: Cells): Int32Array {
  return new Int32Array(chunk.buffer)
}
