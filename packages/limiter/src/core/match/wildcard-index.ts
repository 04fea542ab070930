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

/** What is filed under a piece of its pattern, such as positions, found in about the same time however much there is. */
export class WildcardIndex<T> {
  readonly #starts = new PieceLists<T>()
  readonly #ends = new PieceLists<T>()
  readonly #within = new PieceLists<T>()

  file({ at, text }: PatternPiece, filed: T): void {
    const lists = at === 'start' ? this.#starts : at === 'end' ? this.#ends : this.#within
    lists.file(text, filed)
  }

  /** Calls `take` with what is filed under each piece that the text has; a list may come twice. */
  find(text: string, take: (filed: readonly T[]) => void): void {
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

/** Lists by text. */
class PieceLists<T> {
  readonly lengths = new Set<number>()
  readonly #lists = new Map<string, T[]>()

  /** How many texts there are. */
  get size(): number {
    return this.#lists.size
  }

  file(text: string, filed: T): void {
    this.lengths.add(text.length)
    made(this.#lists, text, (): T[] => []).push(filed)
  }

  take(text: string, take: (filed: readonly T[]) => void): void {
    const list = this.#lists.get(text)
    if (list !== undefined) take(list)
  }

  takeAll(take: (filed: readonly T[]) => void): void {
    for (const list of this.#lists.values()) take(list)
  }
}
