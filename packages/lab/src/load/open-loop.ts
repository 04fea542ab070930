import { setTimeout as elapsed, setImmediate as nextTurn } from 'node:timers/promises'
import type { Arrival } from './arrivals.ts'

/** A timer of Node may be late by one of these; nearer instants are waited for turn by turn. */
const TIMER_MS = 1.5
const MOST_PAUSE_MS = 3_600_000
/** Sockets are looked after at least once in so many requests. */
const WITHOUT_TURN = 64

/**
 * Calls `fire` for each arrival at its time, whether earlier calls have ended or not.
 * @param fire gets the instant, of `performance.now()`, at which it should have been called
 * @returns the longest delay of a call, in milliseconds: above a few, this process could not keep the schedule
 */
export async function openLoop<A extends Arrival>(
  arrivals: Iterable<A> | AsyncIterable<A>,
  fire: (arrival: A, due: number) => void,
  signal?: AbortSignal,
): Promise<number> {
  const start = performance.now()
  let late = 0
  let fired = 0
  for await (const arrival of arrivals) {
    if (signal?.aborted) break
    const due = start + arrival.at
    if (++fired % WITHOUT_TURN === 0) await nextTurn()
    for (let now = performance.now(); now < due && !signal?.aborted; now = performance.now())
      await (due - now > TIMER_MS ? pause(due - now - 1, signal) : nextTurn())
    if (signal?.aborted) break
    late = Math.max(late, performance.now() - due)
    fire(arrival, due)
  }
  return late
}

/** Ends early, without an error, when `signal` is aborted, and after an hour: the timers of Node take less than 25 days. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await elapsed(Math.min(MOST_PAUSE_MS, Math.max(0, ms)), undefined, signal && { signal }).catch(
    () => undefined,
  )
}

/** Until an instant of `performance.now()`, never earlier. */
export async function pauseUntil(instant: number, signal?: AbortSignal): Promise<void> {
  for (let now = performance.now(); now < instant && !signal?.aborted; now = performance.now())
    await pause(instant - now, signal)
}
