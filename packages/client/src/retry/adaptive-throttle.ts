export interface ThrottleOptions {
  /** Calls that are sent for each one that is accepted, above 1. Default 2. */
  readonly k?: number
  /** Calls in the window, below which none is refused here. Default 100. */
  readonly minimum?: number
}

/** The window: so many slots of so many milliseconds, two minutes together. */
const SLOTS = 24
const SLOT_MS = 5_000
/** One call each so many milliseconds is sent in any case: so a backend that is back is noticed. */
const PROBE_MS = 1_000
/** So many answers that accept, with no refusal between them, are a sign that the backend is back … */
const STREAK = 5
/** … once the last refusal is so many milliseconds ago; then it takes so many more to the full rate. */
const QUIET_MS = 2_000
const RISE_MS = 5_000

/**
 * Client-side throttling: while a backend refuses more than it accepts, calls are refused here with the probability
 * max(0, (requests − K · accepts) / (requests + 1)) over two minutes (Site Reliability Engineering, chapter 21).
 * Requests are counted when they are offered, refused here or not, and without their answer once it is five seconds late:
 * before that a call may be one of many that a program starts at once.
 *
 * The formula alone needs those two minutes to notice that a backend is back, and all but stops asking one that was
 * gone. Hence the probes, and the faster rise after refusals have ended.
 */
export class AdaptiveThrottle {
  readonly #k: number
  readonly #minimum: number
  readonly #random: () => number
  readonly #requests = new Float64Array(SLOTS)
  readonly #accepts = new Float64Array(SLOTS)
  /** Of those requests, the calls that were sent and not answered. */
  readonly #open = new Float64Array(SLOTS)
  /** Number of the current slot since the clock's zero. */
  #slot: number
  #sentAt = Number.NEGATIVE_INFINITY
  #refusedAt = Number.NEGATIVE_INFINITY
  #streak = 0

  /** @param nowMs milliseconds of a clock that never steps back */
  constructor({ k = 2, minimum = 100 }: ThrottleOptions, random: () => number, nowMs: number) {
    this.#k = k
    this.#minimum = minimum
    this.#random = random
    this.#slot = Math.floor(nowMs / SLOT_MS)
  }

  /** Counts a call that is offered; whether it may be sent. */
  admit(nowMs: number): boolean {
    const probability = this.probability(nowMs)
    this.#requests[this.#slot % SLOTS]!++
    const probe = nowMs - this.#sentAt >= PROBE_MS
    if (!probe && probability > 0 && this.#random() < probability) return false
    this.#sentAt = nowMs
    this.#open[this.#slot % SLOTS]!++
    return true
  }

  /** Notes what became of a call that was sent then. @param accepted undefined: its caller left */
  note(sentMs: number, accepted: boolean | undefined, nowMs: number): void {
    this.#advance(nowMs)
    const sent = Math.floor(sentMs / SLOT_MS)
    if (sent > this.#slot - SLOTS) {
      this.#open[sent % SLOTS]!--
      if (accepted === undefined) this.#requests[sent % SLOTS]!--
    }
    if (accepted === undefined) return
    if (!accepted) {
      this.#streak = 0
      this.#refusedAt = nowMs
      return
    }
    this.#accepts[this.#slot % SLOTS]!++
    this.#streak++
    if (this.#rise(nowMs) >= 1) this.#forget()
  }

  /** The probability with which a call is refused now, 0 to 1. */
  probability(nowMs: number): number {
    this.#advance(nowMs)
    const fresh = this.#open[this.#slot % SLOTS]! + this.#open[(this.#slot + SLOTS - 1) % SLOTS]!
    const requests = sum(this.#requests) - fresh
    if (requests < this.#minimum) return 0
    const refused = Math.max(0, (requests - this.#k * sum(this.#accepts)) / (requests + 1))
    return refused * Math.max(0, 1 - this.#rise(nowMs))
  }

  /** How far the backend is known to be back: 0 not at all, 1 and above wholly. */
  #rise(nowMs: number): number {
    if (this.#streak < STREAK) return 0
    return Math.max(0, (nowMs - this.#refusedAt - QUIET_MS) / RISE_MS)
  }

  /** What was refused before the backend was back counts no longer; what it accepted does. */
  #forget(): void {
    for (let i = 0; i < SLOTS; i++)
      this.#requests[i] = Math.min(this.#requests[i]!, this.#accepts[i]! + this.#open[i]!)
  }

  #advance(nowMs: number): void {
    const slot = Math.max(this.#slot, Math.floor(nowMs / SLOT_MS))
    for (let past = Math.max(this.#slot, slot - SLOTS); past < slot; past++) {
      const next = (past + 1) % SLOTS
      this.#requests[next] = 0
      this.#accepts[next] = 0
      this.#open[next] = 0
    }
    this.#slot = slot
  }
}

function sum(counts: Float64Array): number {
  let total = 0
  for (const count of counts) total += count
  return total
}
