const SECOND = 1_000_000
/** Seconds that are kept one by one: the busiest. */
const MOST_SECONDS = 100_000

/** A second of the clock, and what is asked for in it: requests, or what they cost. */
export type BusySecond = readonly [second: number, asked: number]

/** Finds the seconds in which the most is asked for. */
export class BusySeconds {
  #kept: BusySecond[] = []
  #second = -1
  #asked = 0

  /** @param at microseconds since the epoch, not before those of earlier calls */
  add(at: number, cost: number): void {
    const second = Math.floor(at / SECOND)
    if (second !== this.#second) this.#end()
    this.#second = second
    this.#asked += cost
  }

  /** Most first; none that is left out has more than the last. */
  busiest(): readonly BusySecond[] {
    this.#end()
    return busiestOf(this.#kept)
  }

  #end(): void {
    if (this.#second >= 0) this.#kept.push([this.#second, this.#asked])
    this.#second = -1
    this.#asked = 0
    if (this.#kept.length >= 2 * MOST_SECONDS) this.#kept = busiestOf(this.#kept)
  }
}

function busiestOf(seconds: readonly BusySecond[]): BusySecond[] {
  return seconds.toSorted(([, a], [, b]) => b - a).slice(0, MOST_SECONDS)
}

/** The most that is asked for in any second that is not among those kept. */
export function mostBeyond(seconds: readonly BusySecond[]): number {
  return seconds.length < MOST_SECONDS ? 0 : seconds.at(-1)![1]
}
