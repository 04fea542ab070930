import type { Decision } from '@sluice/limiter'

/** One call, as the server saw it. */
export interface MockArrival {
  /** Milliseconds since the mock started, when the call was there. */
  readonly atMs: number
  /** Its key. */
  readonly key: string
  /** Who called: the header `x-caller`, or the key. */
  readonly caller: string
  readonly admitted: boolean
  /** It came before the time that this caller had been given with its last refusal. */
  readonly early: boolean
}

/** The most that was admitted of one policy in any time as long as its window, for any one key. */
export interface MockWindow {
  readonly policy: string
  readonly limit: number
  readonly windowSeconds: number
  readonly most: number
}

export interface MockCount {
  readonly received: number
  readonly admitted: number
  readonly refused: number
  /** Calls before the time that their caller had been given. */
  readonly early: number
  /** Answers by what was wrong with them. */
  readonly faults: Readonly<Record<string, number>>
  readonly windows: readonly MockWindow[]
}

/** Calls that are kept; of more, the oldest are forgotten. */
const MAX_ARRIVALS = 1_000_000
/** Keys and callers that are followed; those that come later are only counted. */
const MAX_FOLLOWED = 10_000

/** When what was admitted of one policy and key was: the log of one sliding window. */
interface SlidingLog {
  readonly policy: string
  readonly limit: number
  readonly windowSeconds: number
  times: number[]
  /** The first entry that is in the window. */
  first: number
  most: number
}

/** Counts what a mock got and admitted, by a log of its own, apart from the limiter that decides. */
export class CallCount {
  readonly #arrivals: MockArrival[] = []
  readonly #logs = new Map<string, SlidingLog>()
  readonly #notBefore = new Map<string, number>()
  readonly #faults = new Map<string, number>()
  #received = 0
  #admitted = 0
  #early = 0

  /** The last million calls, in order. */
  get arrivals(): readonly MockArrival[] {
    return this.#arrivals
  }

  /** Counts a call that has been decided. */
  arrive(key: string, caller: string, decision: Decision, atMs: number): void {
    const early = atMs < (this.#notBefore.get(caller) ?? 0)
    const { allowed: admitted } = decision
    this.#received++
    if (early) this.#early++
    if (this.#arrivals.length >= MAX_ARRIVALS) this.#arrivals.splice(0, MAX_ARRIVALS / 10)
    this.#arrivals.push({ atMs, key, caller, admitted, early })
    if (!admitted) return
    this.#admitted++
    for (const { policy, limit, windowSeconds } of decision.policies)
      if (windowSeconds !== undefined) this.#log(policy, key, limit, windowSeconds, atMs)
  }

  /** Notes that a caller was given a time, before which it must not call. */
  giveTime(caller: string, atMs: number): void {
    if (this.#notBefore.size < MAX_FOLLOWED || this.#notBefore.has(caller)) this.#notBefore.set(caller, atMs)
  }

  fault(name: string): void {
    this.#faults.set(name, (this.#faults.get(name) ?? 0) + 1)
  }

  report(): MockCount {
    const windows = new Map<string, MockWindow>()
    for (const { policy, limit, windowSeconds, most } of this.#logs.values()) {
      const before = windows.get(policy)
      if (before === undefined || most > before.most)
        windows.set(policy, { policy, limit, windowSeconds, most })
    }
    return {
      received: this.#received,
      admitted: this.#admitted,
      refused: this.#received - this.#admitted,
      early: this.#early,
      faults: Object.fromEntries(this.#faults),
      windows: [...windows.values()],
    }
  }

  reset(): void {
    this.#arrivals.length = 0
    for (const map of [this.#logs, this.#notBefore, this.#faults]) map.clear()
    this.#received = 0
    this.#admitted = 0
    this.#early = 0
  }

  #log(policy: string, key: string, limit: number, windowSeconds: number, atMs: number): void {
    const name = `${policy}\n${key}`
    let log = this.#logs.get(name)
    if (log === undefined) {
      if (this.#logs.size >= MAX_FOLLOWED) return
      log = { policy, limit, windowSeconds, times: [], first: 0, most: 0 }
      this.#logs.set(name, log)
    }
    log.times.push(atMs)
    while (log.times[log.first]! <= atMs - windowSeconds * 1_000) log.first++
    log.most = Math.max(log.most, log.times.length - log.first)
    if (log.first > 10_000) {
      log.times = log.times.slice(log.first)
      log.first = 0
    }
  }
}
