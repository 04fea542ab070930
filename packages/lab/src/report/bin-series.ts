/** Numbers of one entry: the bin, and what was counted in it. */
const ENTRY = 4

/** What was counted in each bin, in three columns; bins without anything take no room. */
export class BinSeries {
  #entries: number[] = []

  get length(): number {
    return this.#entries.length / ENTRY
  }

  /**
   * Adds to the first two columns, and raises the third.
   * @param bin not before that of the last call
   */
  add(bin: number, first: number, second: number, third: number): void {
    const entries = this.#entries
    const last = entries.length - ENTRY
    if (last < 0 || entries[last] !== bin) {
      entries.push(bin, first, second, third)
      return
    }
    entries[last + 1]! += first
    entries[last + 2]! += second
    if (third > entries[last + 3]!) entries[last + 3] = third
  }

  /** Joins so many neighbours into one. */
  widen(ratio: number): void {
    const before = this.#entries
    this.#entries = []
    for (let i = 0; i < before.length; i += ENTRY)
      this.add(Math.floor(before[i]! / ratio), before[i + 1]!, before[i + 2]!, before[i + 3]!)
  }

  clear(): void {
    this.#entries = []
  }

  /** One column with a number for each of `count` bins from `from` on. */
  column(place: 1 | 2 | 3, from: number, count: number): number[] {
    const numbers = new Array<number>(count).fill(0)
    const entries = this.#entries
    for (let i = 0; i < entries.length; i += ENTRY) {
      const index = entries[i]! - from
      if (index >= 0 && index < count) numbers[index] = entries[i + place]!
    }
    return numbers
  }
}
