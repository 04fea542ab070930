import { made } from './made.ts'

/** Text that begins, ends, or stands anywhere in whatever a pattern with `*` fits. */
export interface PatternPiece {
  readonly at: 'start' | 'end' | 'within'
  readonly text: string
}

/**
 * The pieces of a pattern, by any of which it can be found; none for a pattern of `*` alone.
 * @example
 * piecesOf('*.example.*') // [{ at: 'within', text: '.example.' }]
 */
export function piecesOf(pattern: string): readonly PatternPiece[] {
  const texts = pattern.split('*')
  const last = texts.length - 1
  return texts.flatMap((text, i) =>
    text === '' ? [] : [{ at: i === 0 ? 'start' : i === last ? 'end' : 'within', text } as const],
  )
}

export function pieceId({ at, text }: PatternPiece): string {
  return `${at} ${text}`
}

/** Positions filed under a piece of their pattern, found in about the same time however many there are. */
export class WildcardIndex {
  readonly #starts = new PieceLists()
  readonly #ends = new PieceLists()
  readonly #within = new PieceLists()

  file({ at, text }: PatternPiece, position: number): void {
    const lists = at === 'start' ? this.#starts : at === 'end' ? this.#ends : this.#within
    lists.file(text, position)
  }

  /** Calls `take` with the positions of each piece that the text has; a list may come twice. */
  find(text: string, take: (positions: readonly number[]) => void): void {
    for (const length of this.#starts.lengths) this.#starts.take(text.slice(0, length), take)
    for (const length of this.#ends.lengths) {
      if (length <= text.length) this.#ends.take(text.slice(text.length - length), take)
    }
    const { lengths, size } = this.#within
    if (lengths.size * text.length > size) this.#within.takeAll(take)
    else for (const piece of piecesWithin(text, lengths)) this.#within.take(piece, take)
  }
}

function* piecesWithin(text: string, lengths: ReadonlySet<number>): Iterable<string> {
  for (const length of lengths) {
    for (let at = 0; at + length <= text.length; at++) yield text.slice(at, at + length)
  }
}

/** Lists of positions by text. */
class PieceLists {
  readonly lengths = new Set<number>()
  readonly #lists = new Map<string, number[]>()

  /** How many texts there are. */
  get size(): number {
    return this.#lists.size
  }

  file(text: string, position: number): void {
    this.lengths.add(text.length)
    made(this.#lists, text, (): number[] => []).push(position)
  }

  take(text: string, take: (positions: readonly number[]) => void): void {
    const list = this.#lists.get(text)
    if (list !== undefined) take(list)
  }

  takeAll(take: (positions: readonly number[]) => void): void {
    for (const list of this.#lists.values()) take(list)
  }
}
