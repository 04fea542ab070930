import { made } from './made.ts'

/** Something by which a rule may be filed, and how many rules share it. */
export interface Filing<T> {
  readonly by: T
  readonly crowd: { size: number }
}

/** Counts how many rules share each of the things by which they may be filed; equal things have equal ids. */
export class Crowds<T> {
  readonly #idOf: (by: T) => string
  readonly #crowds = new Map<string, { size: number }>()

  constructor(idOf: (by: T) => string) {
    this.#idOf = idOf
  }

  /** Counts it. */
  filing(by: T): Filing<T> {
    const crowd = made(this.#crowds, this.#idOf(by), () => ({ size: 0 }))
    crowd.size += 1
    return { by, crowd }
  }
}

/** The one that fewest rules share, the first of equals; of one at least. */
export function leastShared<T>(filings: readonly Filing<T>[]): Filing<T> {
  return filings.reduce((least, filing) => (filing.crowd.size < least.crowd.size ? filing : least))
}
