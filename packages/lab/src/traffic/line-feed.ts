/** Longest line that is looked at, in bytes: no server writes a longer one. */
export const MAX_LINE = 65_536

const LINE_FEED = 10
const RETURN = 13

/** Parts bytes into lines, wherever they were cut. */
export class LineFeed {
  #rest: Buffer = Buffer.alloc(0)
  #overlong = false
  readonly #take: (bytes: Buffer, from: number, to: number) => void
  readonly #skip: () => void

  /**
   * @param take is called with each line, without its end; the bytes are only lent
   * @param skip with each that is longer than {@link MAX_LINE}
   */
  constructor(take: (bytes: Buffer, from: number, to: number) => void, skip: () => void) {
    this.#take = take
    this.#skip = skip
  }

  push(chunk: Buffer): void {
    let from = 0
    if (this.#rest.length > 0 || this.#overlong) {
      const end = chunk.indexOf(LINE_FEED)
      if (end < 0) {
        this.#keep(chunk, 0)
        return
      }
      if (this.#overlong) this.#pass()
      else this.#line(Buffer.concat([this.#rest, chunk.subarray(0, end)]), 0, this.#rest.length + end)
      this.#rest = EMPTY
      from = end + 1
    }
    for (let end = chunk.indexOf(LINE_FEED, from); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      this.#line(chunk, from, end)
      from = end + 1
    }
    if (from < chunk.length) this.#keep(chunk, from)
  }

  /** What is left at the end of a file is a line, too. */
  end(): void {
    if (this.#overlong) this.#pass()
    else if (this.#rest.length > 0) this.#line(this.#rest, 0, this.#rest.length)
    this.#rest = EMPTY
  }

  #line(bytes: Buffer, from: number, to: number): void {
    const end = to > from && bytes[to - 1] === RETURN ? to - 1 : to
    if (end - from > MAX_LINE) this.#skip()
    else this.#take(bytes, from, end)
  }

  #keep(chunk: Buffer, from: number): void {
    if (this.#overlong) return
    const rest = Buffer.concat([this.#rest, chunk.subarray(from)])
    this.#overlong = rest.length > MAX_LINE + 1
    this.#rest = this.#overlong ? EMPTY : rest
  }

  #pass(): void {
    this.#overlong = false
    this.#skip()
  }
}

const EMPTY: Buffer = /* @__PURE__ */ Buffer.alloc(0)

/**
 * Lines as text; `undefined` for one that is longer than 65,536 bytes.
 * @example
 * for await (const line of textLines(process.stdin)) console.log(line)
 */
export async function* textLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<string | undefined> {
  let ready: (string | undefined)[] = []
  const feed = new LineFeed(
    (line, from, to) => ready.push(line.toString('utf8', from, to)),
    () => ready.push(undefined),
  )
  for await (const chunk of bytes) {
    feed.push(chunk)
    yield* ready
    ready = []
  }
  feed.end()
  yield* ready
}
