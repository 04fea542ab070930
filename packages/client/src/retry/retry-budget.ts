export interface RetryBudgetOptions {
  /** Retries for each success, from 0 to 1: 0.1 is one retry for ten calls that succeed. Default 0.1. */
  readonly share?: number
  /** Retries a minute that need no success. Default 10. */
  readonly perMinute?: number
  /** The most retries that successes can save up. Default 100. */
  readonly saved?: number
}

const MINUTE = 60_000

/**
 * What retries may cost a backend: a token bucket that successes fill, and beside it a few retries a minute for those
 * who call rarely. So retries are at most this share of the calls over time, whatever fails (Site Reliability
 * Engineering, chapter 21; https://github.com/grpc/proposal/blob/master/A6-client-retries.md).
 */
export class RetryBudget {
  readonly #share: number
  readonly #perMinute: number
  readonly #saved: number
  #tokens = 0
  /** Retries of the minimum that are left, at the time `#at`. */
  #minimum: number
  #at: number

  /** @param nowMs milliseconds of a clock that never steps back */
  constructor({ share = 0.1, perMinute = 10, saved = 100 }: RetryBudgetOptions, nowMs: number) {
    this.#share = share
    this.#perMinute = perMinute
    this.#saved = saved
    this.#minimum = perMinute
    this.#at = nowMs
  }

  succeed(): void {
    this.#tokens = Math.min(this.#saved, this.#tokens + this.#share)
  }

  /** Whether one retry more may be sent; it is then taken. */
  take(nowMs: number): boolean {
    this.#refill(nowMs)
    // Ten successes are one retry, although ten times 0.1 are less than 1 in binary.
    if (this.#tokens + 1e-9 >= 1) this.#tokens = Math.max(0, this.#tokens - 1)
    else if (this.#minimum >= 1) this.#minimum--
    else return false
    return true
  }

  /** Retries that are left. */
  left(nowMs: number): number {
    this.#refill(nowMs)
    return Math.floor(this.#tokens + 1e-9) + Math.floor(this.#minimum)
  }

  #refill(nowMs: number): void {
    const gained = (Math.max(0, nowMs - this.#at) * this.#perMinute) / MINUTE
    this.#minimum = Math.min(this.#perMinute, this.#minimum + gained)
    this.#at = Math.max(this.#at, nowMs)
  }
}
