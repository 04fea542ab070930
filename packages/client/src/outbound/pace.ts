/** How much of the last rate is left after a refusal, and how fast it grows: the figures of CUBIC (RFC 9438). */
const BETA = 0.7
const C = 0.4
/** Calls a second that are always allowed. */
const LEAST_RATE = 0.5
/** The rate is measured in parts of so many milliseconds, each of which counts for this share. */
const PART_MS = 500
const SMOOTHING = 0.8

/**
 * The pace of calls to one destination after it has refused: 0.7 of the rate at which calls were sent, then back up by
 * CUBIC, as the adaptive retry mode of the AWS SDKs does it. Before the first refusal there is none, and none once twice
 * the old rate is reached.
 */
export class CubicPace {
  #parts = 0
  #part = 0
  #sent = 0
  #rate = 0
  /** Calls a second when the destination refused; 0: it did not. */
  #most = 0
  #since = 0
  #nextAt = 0

  /** Calls a second that are admitted now; infinite while there is no pace. @param now milliseconds */
  rateAt(now: number): number {
    if (this.#most === 0) return Number.POSITIVE_INFINITY
    const seconds = Math.max(0, now - this.#since) / 1_000
    const back = Math.cbrt((this.#most * (1 - BETA)) / C)
    const rate = C * (seconds - back) ** 3 + this.#most
    if (rate >= 2 * this.#most) {
      this.#most = 0
      return Number.POSITIVE_INFINITY
    }
    return Math.max(LEAST_RATE, rate)
  }

  /** Milliseconds until the next call may be sent. */
  waitMs(now: number): number {
    return this.#most === 0 ? 0 : Math.max(0, this.#nextAt - now)
  }

  sent(now: number): void {
    const part = Math.floor(now / PART_MS)
    if (part !== this.#part) this.#measure(part)
    this.#sent++
    if (this.#most > 0) this.#nextAt = Math.max(this.#nextAt, now) + 1_000 / this.rateAt(now)
  }

  /** The destination refused. @param from when calls may be sent again, in milliseconds */
  refused(now: number, from: number): void {
    this.#measure(Math.floor(now / PART_MS))
    const before = this.rateAt(now)
    this.#most = Math.max(LEAST_RATE, Math.min(before, this.#rate))
    this.#since = from
    this.#nextAt = from
  }

  #measure(part: number): void {
    const parts = part - this.#part
    if (parts <= 0) return
    const rate = (this.#sent * 1_000) / PART_MS / (this.#parts === 0 ? 1 : parts)
    this.#rate = this.#parts === 0 ? rate : rate * SMOOTHING + this.#rate * (1 - SMOOTHING)
    this.#parts++
    this.#part = part
    this.#sent = 0
  }
}
