const SECOND = 1_000_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR

/** Widths of bins in microseconds, each a multiple of the one before, so that bins are joined and never parted. */
const WIDTHS: readonly number[] = [
  SECOND,
  ...[2, 10, 30, 60, 300, 600, 1_800].map((seconds) => seconds * SECOND),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 7, 28, 56, 112, 224, 448, 896, 1_792, 3_584, 7_168].map((days) => days * DAY),
]

/** Most bins from the first request to the last. */
export const MOST_BINS = 240

/**
 * Parts the time of a log of unknown length into bins: when there are too many of them, they get wider. A bin is named by
 * the whole number of widths since the epoch.
 */
export class Bins {
  #step = 0
  #first = -1
  readonly #widened: (ratio: number) => void

  /** @param widened is called when `ratio` neighbours become one: bin n is then ⌊n / ratio⌋ */
  constructor(widened: (ratio: number) => void) {
    this.#widened = widened
  }

  /** Microseconds. */
  get width(): number {
    return WIDTHS[this.#step]!
  }

  /** @param at microseconds since the epoch, not before those of earlier calls */
  binOf(at: number): number {
    if (this.#first < 0) this.#first = at
    while (
      Math.floor(at / this.width) - Math.floor(this.#first / this.width) >= MOST_BINS &&
      this.#step < WIDTHS.length - 1
    ) {
      this.#step++
      this.#widened(WIDTHS[this.#step]! / WIDTHS[this.#step - 1]!)
    }
    return Math.floor(at / this.width)
  }
}
