import type { AnswerLimits, StatedLimit } from '../answers/answer-limits.ts'
import { LearnedLimit } from './learned-limit.ts'
import { CubicPace } from './pace.ts'
import type { Route } from './route.ts'

/** A refusal that says nothing pauses for so long, and twice as long each time. */
const FIRST_PAUSE_MS = 1_000
/** Of answers that are no errors, after so many that say nothing of limits, one in so many is read. */
const SILENT = 16
const READ_ONE_IN = 8
/** Limits that are kept of one destination and key. */
const MOST_LEARNED = 32

export interface AllowanceOptions {
  /** Spreads what answers leave over the time until it is new again. */
  readonly even: boolean
  /** Milliseconds: no answer pauses for longer. */
  readonly maxPauseMs: number
}

/** Where it counts. */
export interface AllowancePlace {
  /** No other has it. */
  readonly name: string
  readonly flow: string
  readonly destination: string
  readonly route: Route
}

/** A call's costs. */
export interface CallCosts {
  /** Units that it takes of a limit with this name. */
  costOf(name: string): number
}

/** A call that was sent. */
export interface SentCall {
  /** Its number, of all that were sent there. */
  readonly number: number
  /** So many had been answered when it was sent. */
  readonly answered: number
}

/**
 * What answers say of one destination and key: pauses, limits, and how fast to go on. It only ever holds calls back.
 * Times are in milliseconds by one clock.
 */
export class Allowance {
  readonly name: string
  /** The key, which shares fairly with others what all of them need. */
  readonly flow: string
  /** As events name it. */
  readonly destination: string
  readonly route: Route
  /** Calls that are under way: they keep it from being forgotten. */
  inFlight = 0
  readonly #options: AllowanceOptions
  readonly #learned = new Map<string, LearnedLimit>()
  readonly #pace = new CubicPace()
  #pausedUntil = 0
  #pauseMs = 0
  /** After a pause: calls go one by one until one succeeds. */
  #probing = false
  #probe: SentCall | undefined
  #sentAt = 0
  #number = 0
  #answered = 0
  #silent = 0
  /** The number of the last call that was sent before the last pause. */
  #pausedNumber = 0

  constructor({ name, flow, destination, route }: AllowancePlace, options: AllowanceOptions) {
    this.name = name
    this.flow = flow
    this.destination = destination
    this.route = route
    this.#options = options
  }

  /** Whether the next call has to find out if the destination admits calls again. */
  get probing(): boolean {
    return this.#probing
  }

  /** Whether an answer of this status is worth reading. */
  reads(status: number): boolean {
    return status >= 300 || this.#silent < SILENT || this.#silent++ % READ_ONE_IN === 0
  }

  /** Milliseconds until a call of these costs may be sent: 0 at once, infinite until an answer comes. */
  waitMs(now: number, costs: CallCosts): number {
    if (now < this.#pausedUntil) return this.#pausedUntil - now
    if (this.#probing && this.#probe !== undefined) return Number.POSITIVE_INFINITY
    let wait = this.#pace.waitMs(now)
    for (const [name, limit] of this.#learned) {
      wait = Math.max(wait, limit.waitMs(costs.costOf(name), now, this.inFlight))
      if (this.#options.even)
        wait = Math.max(wait, this.#sentAt + limit.evenMs(this.#sentAt, this.inFlight) - now)
    }
    return wait
  }

  /** A call is being sent. */
  send(now: number, costs: CallCosts): SentCall {
    this.inFlight++
    this.#pace.sent(now)
    const call = { number: ++this.#number, answered: this.#answered }
    if (this.#probing) this.#probe = call
    for (const [name, limit] of this.#learned) limit.take(costs.costOf(name))
    this.#sentAt = now
    return call
  }

  /** It failed without an answer. */
  lost(call: SentCall): void {
    this.#end(call)
    this.#answered++ // whatever the server has counted, it has counted by now
  }

  /** @returns for how many milliseconds all others are to pause as well, where this answer is a refusal */
  answered(call: SentCall, limits: AnswerLimits | undefined, status: number, now: number): number {
    const wasProbe = this.#probe === call
    this.#end(call)
    this.#answered++
    const uncounted = this.#number - 1 - call.answered
    if (limits !== undefined) this.#silent = 0
    else if (this.#silent < SILENT) this.#silent++
    for (const stated of limits?.limits ?? []) this.#learn(stated, now, uncounted)
    const { refused = false, retryAfterMs } = limits ?? {}
    if (!refused && (retryAfterMs === undefined || status < 400)) {
      if (wasProbe && status < 500) this.#probing = false
      if (!this.#probing) this.#pauseMs = 0
      return 0
    }
    // Those that were sent before the others knew of the pause are no refusals of their own.
    const isNew = call.number > this.#pausedNumber
    if (isNew && retryAfterMs === undefined)
      this.#pauseMs = Math.min(
        this.#options.maxPauseMs,
        this.#pauseMs === 0 ? FIRST_PAUSE_MS : 2 * this.#pauseMs,
      )
    const ms = Math.min(this.#options.maxPauseMs, retryAfterMs ?? this.#pauseMs)
    this.pause(now, ms, refused && isNew)
    return ms
  }

  /** No calls for so long, and then one by one. @param slower whether the pace goes down as well */
  pause(now: number, ms: number, slower: boolean): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms)
    if (slower) {
      this.#pace.refused(now, this.#pausedUntil)
      this.#pausedNumber = this.#number
    }
    this.#probing = true
  }

  /** Whether it holds nothing that matters later. */
  isIdle(now: number): boolean {
    if (this.inFlight > 0 || this.#probing || now < this.#pausedUntil) return false
    if (this.#pace.rateAt(now) < Number.POSITIVE_INFINITY) return false
    for (const limit of this.#learned.values()) if (!limit.isOver(now)) return false
    return true
  }

  /** What the answers leave, by the names of limits. */
  left(now: number): Readonly<Record<string, number>> {
    const live = [...this.#learned].filter(([, limit]) => !limit.isOver(now))
    return Object.fromEntries(live.map(([name, limit]) => [name, limit.left]))
  }

  #end(call: SentCall): void {
    this.inFlight--
    if (this.#probe === call) this.#probe = undefined
  }

  #learn(stated: StatedLimit, now: number, uncounted: number): void {
    if (stated.remaining === undefined) return
    const before = this.#learned.get(stated.name)
    if (before !== undefined) before.learn(stated, now, uncounted)
    else if (this.#learned.size < MOST_LEARNED)
      this.#learned.set(stated.name, new LearnedLimit(stated, now, uncounted))
  }
}
