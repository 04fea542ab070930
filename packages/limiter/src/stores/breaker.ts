import { above0, checkOptions, type OptionFields, objectOf, wholeFrom } from '../core/options.ts'
import type { BreakerState } from '../observe/events.ts'

export interface BreakerOptions {
  /** Failures in a row after which the store is no longer asked. Default 5. */
  readonly failures?: number | undefined
  /** Milliseconds between probes while it is not asked. Default 500. */
  readonly probeEveryMs?: number | undefined
}

/** What the options of a Breaker may be. */
export const breakerFields: OptionFields<BreakerOptions> = {
  failures: wholeFrom(1),
  probeEveryMs: above0(Number.POSITIVE_INFINITY),
}
const OPTIONS = /* @__PURE__ */ objectOf(breakerFields)

/** Milliseconds after which a failure is too old to count. */
const FORGETS_AFTER = 60_000

/**
 * A circuit breaker: stops asking what keeps failing, and lets one caller at a time find out whether it is back.
 * @example
 * const breaker = new Breaker({ failures: 3 }, () => performance.now())
 * if (breaker.admits) {
 *   breaker.asked()
 *   await ask().then(() => breaker.succeeded(), () => breaker.failed())
 * }
 */
export class Breaker {
  readonly #limit: number
  readonly #probeEvery: number
  readonly #now: () => number
  readonly #changed: (state: BreakerState) => void
  #last: BreakerState = 'closed'
  #failures = 0
  #failedAt = 0
  #probing = false

  /**
   * @param now monotonic milliseconds
   * @param changed is called with every new state
   * @throws ConfigError for invalid options
   */
  constructor(
    options: BreakerOptions,
    now: () => number,
    changed: (state: BreakerState) => void = () => undefined,
  ) {
    checkOptions(options, OPTIONS)
    const { failures = 5, probeEveryMs = 500 } = options
    this.#limit = failures
    this.#probeEvery = probeEveryMs
    this.#now = now
    this.#changed = changed
  }

  /** What only time has changed is reported when it is first read, so that nobody reads what was not reported. */
  get state(): BreakerState {
    this.#report()
    return this.#last
  }

  /** Milliseconds until the next probe; 0 while closed. */
  get retryInMs(): number {
    return this.#isOpen() ? Math.max(0, this.#failedAt + this.#probeEvery - this.#now()) : 0
  }

  /** May the store be asked? While open: once for each probe interval, and then only by one. */
  get admits(): boolean {
    return !this.#isOpen() || !(this.#probing || this.retryInMs > 0)
  }

  asked(): void {
    this.#probing = this.#isOpen()
    this.#report()
  }

  /** It was not asked after all. */
  spared(): void {
    this.#probing = false
    this.#report()
  }

  succeeded(): void {
    this.#failures = 0
    this.#probing = false
    this.#report()
  }

  failed(): void {
    this.#failures++
    this.#failedAt = this.#now()
    this.#probing = false
    this.#report()
  }

  #report(): void {
    const state = !this.#isOpen() ? 'closed' : this.#probing ? 'probing' : 'open'
    if (state === this.#last) return
    this.#last = state
    this.#changed(state)
  }

  #isOpen(): boolean {
    return this.#failures >= this.#limit && this.#now() - this.#failedAt < FORGETS_AFTER
  }
}
