import type { LogEntry } from './entry.ts'

/** Brings lines into the order of their times, as far as it can hold them; lines of one time stay in the log's order. */
export class Sorter {
  readonly #capacity: number
  #held: LogEntry[] = []
  #reached = 0
  #late = 0

  /** @param capacity most lines held at once; a log no longer than that is sorted as a whole. At least 2 */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Lines that came too late to be put in their place: they stand at the time that had been reached. */
  get late(): number {
    return this.#late
  }

  /** Takes a line, and gives back the earlier half when it holds too many. */
  push(entry: LogEntry): LogEntry[] {
    this.#held.push(entry)
    return this.#held.length > this.#capacity ? this.#release(Math.ceil(this.#capacity / 2)) : []
  }

  /** Gives back all that is held. */
  flush(): LogEntry[] {
    return this.#release(this.#held.length)
  }

  #release(count: number): LogEntry[] {
    this.#held.sort((a, b) => a.at - b.at)
    const released = this.#held.slice(0, count)
    this.#held = this.#held.slice(count)
    return released.map((entry) => this.#inTime(entry))
  }

  #inTime(entry: LogEntry): LogEntry {
    if (entry.at >= this.#reached) {
      this.#reached = entry.at
      return entry
    }
    this.#late++
    return { ...entry, at: this.#reached }
  }
}
