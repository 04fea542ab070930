/** How waits grow from one try to the next. */
export type BackoffKind = 'full' | 'decorrelated'

export interface BackoffOptions {
  /** Default `full`. Both are those of https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/. */
  readonly backoff?: BackoffKind
  /** Milliseconds: the first wait is at most so long. Default 500. */
  readonly baseMs?: number
  /** Milliseconds: no wait without a hint is longer. Default 20,000. */
  readonly capMs?: number
}

/** What is added to a wait that the server states, as a share of it. */
const SPREAD = 0.1

/** The waits of one call. */
export class Backoff {
  readonly #kind: BackoffKind
  readonly #base: number
  readonly #cap: number
  readonly #random: () => number
  #retries = 0
  #last: number

  /** @param random gives numbers from 0 to below 1 */
  constructor({ backoff = 'full', baseMs = 500, capMs = 20_000 }: BackoffOptions, random: () => number) {
    this.#kind = backoff
    this.#base = baseMs
    this.#cap = capMs
    this.#random = random
    this.#last = baseMs
  }

  /**
   * Milliseconds until the next try. `full`: U(0, min(cap, base · 2^n)), n = 0 for the first retry; `decorrelated`:
   * min(cap, U(base, 3 · last)). After what the server states, a part of it is added, so that those who were refused
   * together do not return together; from the second refusal in a row on, the wait without a hint comes on top.
   * @param hintMs what the server states; it is never undercut
   */
  next(hintMs: number | undefined): number {
    const own = this.#kind === 'full' ? this.#full() : this.#decorrelated()
    const first = this.#retries++ === 0
    if (hintMs === undefined) return own
    const spread = this.#random() * Math.min(hintMs * SPREAD, this.#cap)
    return hintMs + spread + (first ? 0 : own)
  }

  #full(): number {
    return this.#random() * Math.min(this.#cap, this.#base * 2 ** this.#retries)
  }

  #decorrelated(): number {
    this.#last = Math.min(this.#cap, this.#base + this.#random() * (3 * this.#last - this.#base))
    return this.#last
  }
}

/** A held call's wait: until its time, and up to a tenth of the whole pause more. */
export function spreadWait(leftMs: number, wholeMs: number, random: () => number): number {
  return leftMs + random() * wholeMs * SPREAD
}
