import { type KeyCounts, mergeCounts, NO_COUNTS } from './key-counts.ts'
import { copyOfText } from './route.ts'
import { SpaceSaving } from './space-saving.ts'

/** How far back a list looks. */
export type OffenderWindow = '5m' | '1d'

/** All there are. */
export const OFFENDER_WINDOWS: readonly OffenderWindow[] = ['5m', '1d']

const MINUTE_MS = 60_000
/** Slices of each window that are over, beside the one that is not. */
const MINUTES = 5
const MINUTES_OF_SLICE = 120
const SLICES = 12

/** The number of a minute. @param ms since the epoch */
export function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS)
}

/**
 * Since when a window counts, in milliseconds since the epoch: whole slices, of a minute or two hours, and what has
 * passed of the present one.
 */
export function windowStart(window: OffenderWindow, minute: number): number {
  if (window === '5m') return (minute - MINUTES) * MINUTE_MS
  return (sliceOf(minute) - SLICES) * MINUTES_OF_SLICE * MINUTE_MS
}

interface Past {
  /** Of the minute, or of the slice of the day. */
  readonly number: number
  readonly counts: KeyCounts
}

/**
 * The most frequent keys of the last minutes and of the last day. Only the present minute is counted as keys come; what
 * is over is kept as a list of at most `most` keys, and minutes are merged into slices of two hours.
 */
export class RecentCounts {
  readonly #most: number
  readonly #present: SpaceSaving
  #minute: number
  /** Those of the present slice of the day that are over, merged. */
  #slice: KeyCounts = NO_COUNTS
  #minutes: readonly Past[] = []
  #slices: readonly Past[] = []

  constructor(most: number, minute: number) {
    this.#most = most
    this.#present = new SpaceSaving(most)
    this.#minute = minute
  }

  /** @param hash of the key */
  add(key: string, hash: number): void {
    this.#present.add(key, hash)
  }

  /** Goes on to a later minute. */
  turn(minute: number): void {
    const over = this.#minute
    if (this.#present.total > 0) {
      const counts = ownKeys(this.#present.counts())
      this.#present.clear()
      this.#minutes = [...this.#minutes, { number: over, counts }]
      this.#slice = mergeCounts([this.#slice, counts], this.#most)
    }
    if (sliceOf(minute) !== sliceOf(over)) {
      if (this.#slice.total > 0)
        this.#slices = [...this.#slices, { number: sliceOf(over), counts: this.#slice }]
      this.#slice = NO_COUNTS
    }
    this.#minutes = this.#minutes.filter(({ number }) => number >= minute - MINUTES)
    this.#slices = this.#slices.filter(({ number }) => number >= sliceOf(minute) - SLICES)
    this.#minute = minute
  }

  list(window: OffenderWindow): KeyCounts {
    const past = window === '5m' ? this.#minutes : [...this.#slices, { counts: this.#slice }]
    return mergeCounts([...past.map(({ counts }) => counts), this.#present.counts()], this.#most)
  }

  /** Nothing was counted within a day. */
  get isEmpty(): boolean {
    return this.#present.total + this.#slice.total + this.#slices.length === 0
  }
}

function sliceOf(minute: number): number {
  return Math.floor(minute / MINUTES_OF_SLICE)
}

function ownKeys(counts: KeyCounts): KeyCounts {
  return { ...counts, keys: counts.keys.map((each) => ({ ...each, key: copyOfText(each.key) })) }
}
