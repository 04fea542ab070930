/** Work in pieces: each `yield` is a place to pause. */
export type Pieces<T> = Generator<undefined, T, undefined>

/** All of it without a pause. */
export function atOnce<T>(pieces: Pieces<T>): T {
  for (;;) {
    const { done, value } = pieces.next()
    if (done) return value
  }
}
