import { made } from './made.ts'

/** Something by which a rule may be filed, and how many rules share it. */
export interface Filing<T> {
  readonly by: T
  readonly group: { size: number }
}

/** Counts how many rules share each of the things by which they may be filed; equal things have equal ids. */
export class Groups<T> {
  readonly #idOf: (by: T) => string
  readonly #groups = new Map<string, { size: number }>()

  constructor(idOf: (by: T) => string) {
    this.#idOf = idOf
  }

  /** Counts it. */
  filing(by: T): Filing<T> {
    const group = made(this.#groups, this.#idOf(by), () => ({ size: 0 }))
    group.size += 1
    return { by, group }
  }
}

/** The one that fewest rules share, the first of equals; of one at least. */
export function leastShared<T>(filings: readonly Filing<T>[]): Filing<T> {
  let least = filings[0]!
  for (const filing of filings) if (filing.group.size < least.group.size) least = filing
  return least
}
