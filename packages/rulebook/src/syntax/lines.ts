/** The lines of a text; each begins after a line feed. */
export class Lines {
  readonly #starts: number[] = [0]

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
  }

  /** Line and column of an offset, counted from 1. */
  placeOf(offset: number): { line: number; column: number } {
    let line = 0
    for (let end = this.#starts.length; end - line > 1; ) {
      const middle = (line + end) >> 1
      if (this.#starts[middle]! <= offset) line = middle
      else end = middle
    }
    return { line: line + 1, column: offset - this.#starts[line]! + 1 }
  }
}
