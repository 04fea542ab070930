import type { AdmissionBound } from './admission-bound.ts'
import { InstantLog } from './instant-log.ts'

/** A request was decided at some instant from `sent` to `received`; milliseconds. */
export interface DecidedBetween {
  readonly sent: number
  readonly received: number
}

/** Clocks of two machines need not run alike: a window is measured so much shorter. */
const CLOCK_SHARE = 1e-4
/** Of sums of fractions. */
const ROUNDING = 1e-6

/**
 * A client's own strict count of what one key was granted, held against a bound. A client does not know when the limiter
 * decided, only between which instants. So what it finds is an interval: `atLeast` is proved by requests that lie
 * wholly within a window; `atMost` counts those too of which it may be said.
 * @example
 * const count = new AdmissionCount(statedBound(10, 2_000))
 * count.asking()
 * count.admitted({ sent: 0, received: 3 })
 * count.overAtLeast // 0
 */
export class AdmissionCount {
  readonly #bound: AdmissionBound
  readonly #sent: InstantLog
  readonly #received: InstantLog
  #longest = 0
  #inFlight = 0
  /** Units admitted above the bound in the worst window; 0: none. */
  overAtLeast = 0
  overAtMost = 0
  /** Refusals although there was room, whatever the unknown instants were. */
  wrongRefusals = 0

  constructor(bound: AdmissionBound) {
    this.#bound = bound
    this.#sent = new InstantLog(bound.flow?.perMs)
    this.#received = new InstantLog(bound.flow?.perMs)
  }

  /** Each request is announced: it may be decided from now on. */
  asking(): void {
    this.#inFlight++
  }

  /** It may have been charged all the same. */
  failed({ sent, received }: DecidedBetween): void {
    this.#inFlight--
    this.#longest = Math.max(this.#longest, received - sent)
    this.#received.add(received, received - 2 * this.#bound.periodMs - this.#longest)
  }

  /** Of one key, in the order in which answers were received. */
  admitted({ sent, received }: DecidedBetween): void {
    this.#inFlight--
    const { flow, inWindow, periodMs } = this.#bound
    this.#longest = Math.max(this.#longest, received - sent)
    const window = periodMs * (1 - CLOCK_SHARE)
    const horizon = received - 2 * periodMs - this.#longest
    this.#sent.add(sent, horizon)
    this.#received.add(received, horizon)
    if (inWindow !== undefined) {
      this.#over(
        this.#sent.countAfter(received - window) - inWindow,
        this.#received.countAfter(received - window - this.#longest) - inWindow,
      )
    }
    if (flow !== undefined) {
      const drift = CLOCK_SHARE * flow.burst
      this.#over(
        this.#sent.level(received) - flow.burst - drift - ROUNDING,
        this.#received.level(received - this.#longest) - flow.burst - ROUNDING,
      )
    }
  }

  /** @returns whether the refusal is proved wrong */
  refused({ sent }: DecidedBetween): boolean {
    this.#inFlight--
    const { flow, inWindow, periodMs, limit, refusesOnlyWhenFull } = this.#bound
    if (!refusesOnlyWhenFull) return false
    const used =
      flow === undefined || inWindow !== undefined
        ? this.#received.countAfter(sent - periodMs * (1 + CLOCK_SHARE))
        : Math.max(0, this.#received.level(sent))
    const room = (flow?.burst ?? limit) - used - this.#inFlight
    const isWrong = room >= 1 + ROUNDING + CLOCK_SHARE * limit
    if (isWrong) this.wrongRefusals++
    return isWrong
  }

  #over(atLeast: number, atMost: number): void {
    this.overAtLeast = Math.max(this.overAtLeast, Math.ceil(atLeast))
    this.overAtMost = Math.max(this.overAtMost, this.overAtLeast, Math.ceil(atMost))
  }
}
