import { Groups, leastShared } from './groups.ts'
import { pieceId, piecesOf, WildcardIndex } from './wildcard-index.ts'

/** A pattern over an entry's key and value. */
export interface Pattern {
  readonly key: string
  /** As written; absent: any value. */
  readonly value?: string | undefined
  readonly fits: ((key: string, value: string) => boolean) | undefined
}

/**
 * Finds the first pattern, in file order, that matches an entry; it tries only those that share a text with it.
 * @example
 * const patterns = ['a*', 'ab*'].map((value) => ({ key: 'k', value, fits: (_, text) => wildcard(value)(text) }))
 * patternIndex(patterns)('k', 'abc')?.value // 'a*'
 */
export function patternIndex<P extends Pattern>(
  patterns: readonly P[],
): (key: string, value: string) => P | undefined {
  const groups = new Groups(pieceId)
  const filings = patterns.map(({ key, value = '*' }) =>
    piecesOf(written(key, value)).map((piece) => groups.filing(piece)),
  )
  const index = new WildcardIndex<number>()
  for (const [position, own] of filings.entries()) index.file(leastShared(own).by, position) // there is the \0 at least
  return (key, value) => {
    if (patterns.length === 0) return undefined
    let first = patterns.length
    index.find(written(key, value), (positions) => {
      const fitting = positions.find((position) => position >= first || patterns[position]!.fits!(key, value))
      if (fitting !== undefined && fitting < first) first = fitting
    })
    return patterns[first]
  }
}

function written(key: string, value: string): string {
  return `${key}\0${value}`
}
