import type { Plan, Reading, Waits } from './algorithm.ts'
import { findWaits, NEVER } from './figures.ts'

/** What a state says to a cost: `left`, `allowed` and `delay`. */
export function readState(plan: Plan, reading: Reading, cost: number): void {
  const { algorithm } = plan
  if (algorithm.read !== undefined) {
    algorithm.read(plan, reading, cost)
    return
  }
  const { cells, offset, last, now } = reading
  keepLeft(reading, algorithm.remaining(plan, cells, offset, last, now), cost)
  if (algorithm.delay !== undefined && reading.allowed && cost > 0)
    reading.delay = algorithm.delay(plan, cells, offset, last, now)
}

/**
 * The waits of the figures, after `readState`; where it `charges`, with the cost, which fits, taken first. Who charges
 * writes the instant.
 */
export function answerState(
  plan: Plan,
  reading: Reading & Waits,
  cost: number,
  charges: boolean,
  chargeId: number,
): void {
  const { algorithm } = plan
  if (algorithm.answer !== undefined) {
    algorithm.answer(plan, reading, cost, charges)
    return
  }
  if (charges) {
    const { cells, offset, last, now, left } = reading
    algorithm.charge(plan, cells, offset, last, now, cost, chargeId, left)
    reading.last = now
    reading.left = left - cost
  }
  findWaits(plan, reading, cost, reading)
}

/** For `read` of an algorithm that does not queue. */
export function keepLeft(reading: Reading, left: number, cost: number): void {
  reading.left = left
  reading.allowed = cost === 0 || cost <= left
  reading.delay = 0
}

/** For `decide`: what it has found, but for the waits. @param now in microseconds, which the plan's unit is */
export function keepDecided(reading: Reading, now: number, allowed: boolean, left: number): void {
  reading.ticks = now
  reading.now = now
  reading.allowed = allowed
  reading.delay = 0
  reading.left = left
}

/**
 * For `answer` of an algorithm where all that is missing comes at one instant: `wait` in units of time. Whether it is
 * asked for is known here.
 */
export function keepOneWait(plan: Plan, reading: Reading & Waits, cost: number, wait: number): void {
  const { capacity } = plan
  const full = Math.max(reading.left, 0) >= capacity
  reading.retry = reading.allowed ? 0 : cost > capacity ? NEVER : wait
  reading.more = full ? NEVER : wait
  reading.reset = full ? 0 : wait
}
