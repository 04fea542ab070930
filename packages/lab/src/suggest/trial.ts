import type { KeyArrivals } from './arrivals.ts'
import type { Law } from './laws.ts'

/** Requests of a key that lie further apart than this belong to different sessions; microseconds. */
const SESSION_GAP = 30 * 60_000_000

/** What a share may be of. */
export type ShareOf = 'requests' | 'keys' | 'sessions'

/** How many of each. */
export type Denied = { -readonly [Of in ShareOf]: number }

/** Is called for each request of a trial. */
export type OnRequest = (at: number, allowed: boolean, cost: number) => void

/** What a law refuses of what keys sent. */
export class Trial {
  readonly #law: Law
  readonly #arrivals: KeyArrivals
  readonly denied: Denied = { requests: 0, keys: 0, sessions: 0 }

  constructor(law: Law, arrivals: KeyArrivals) {
    this.#law = law
    this.#arrivals = arrivals
  }

  /**
   * Decides all requests of one key, and counts.
   * @param stopAbove leaves off when more requests than this are refused
   */
  run(key: number, stopAbove: number = Number.POSITIVE_INFINITY, onRequest?: OnRequest): void {
    const { ends, at, duration, cost } = this.#arrivals
    const law = this.#law
    const { denied } = this
    law.start()
    let previous = Number.NEGATIVE_INFINITY
    let isSessionDenied = false
    let isDenied = false
    for (let i = ends[key]!; i < ends[key + 1]! && denied.requests <= stopAbove; i++) {
      const now = at[i]!
      if (now - previous >= SESSION_GAP) isSessionDenied = false
      previous = now
      const units = cost === undefined ? 1 : cost[i]!
      const allowed = law.admits(now, duration === undefined ? -1 : duration[i]!, units)
      onRequest?.(now, allowed, units)
      if (allowed) continue
      denied.requests++
      if (!isSessionDenied) denied.sessions++
      isSessionDenied = true
      isDenied = true
    }
    if (isDenied) denied.keys++
  }
}

/** How many sessions the keys have. */
export function sessionsOf({ keys, ends, at }: KeyArrivals): number {
  let sessions = 0
  for (let key = 0; key < keys; key++) {
    for (let i = ends[key]!; i < ends[key + 1]!; i++) {
      if (i === ends[key]! || at[i]! - at[i - 1]! >= SESSION_GAP) sessions++
    }
  }
  return sessions
}
