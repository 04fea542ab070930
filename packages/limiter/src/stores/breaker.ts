export interface BreakerOptions {
  /** Failures in a row after which the store is no longer asked. Default 5. */
  readonly failures?: number
  /** Milliseconds between probes while it is not asked. Default 500. */
  readonly probeEveryMs?: number
}

export type BreakerState = 'closed' | 'open' | 'probing'

/** A circuit breaker: stops asking what keeps failing, and lets one caller at a time find out whether it is back. */
export class Breaker {
  readonly #limit: number
  readonly #probeEvery: number
  readonly #now: () => number
  #failures = 0
  #nextProbe = 0
  #probing = false

  /** @param now monotonic milliseconds */
  constructor({ failures = 5, probeEveryMs = 500 }: BreakerOptions, now: () => number) {
    this.#limit = failures
    this.#probeEvery = probeEveryMs
    this.#now = now
  }

  get state(): BreakerState {
    return this.#failures < this.#limit ? 'closed' : this.#probing ? 'probing' : 'open'
  }

  /** Milliseconds until the next probe; 0 while closed. */
  get retryInMs(): number {
    return this.#failures < this.#limit ? 0 : Math.max(0, this.#nextProbe - this.#now())
  }

  /** May the store be asked? While open: once for each probe interval, and then only by one. */
  admits(): boolean {
    if (this.#failures < this.#limit) return true
    if (this.#probing || this.#now() < this.#nextProbe) return false
    this.#probing = true
    return true
  }

  succeeded(): void {
    this.#failures = 0
    this.#probing = false
  }

  failed(): void {
    this.#failures++
    this.#probing = false
    this.#nextProbe = this.#now() + this.#probeEvery
  }
}
