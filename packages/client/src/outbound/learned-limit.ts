import type { StatedLimit } from '../answers/answer-limits.ts'

/** Where the time of a limit that is used up is not stated. */
const UNKNOWN_RESET_MS = 1_000

/**
 * One limit that answers state. What is left is what the server said, less what it may not have counted yet. Of answers
 * that come out of order, the best that is sure counts.
 */
export class LearnedLimit {
  #left: number
  #limit: number | undefined
  /** Milliseconds by the clock. */
  #resetAt: number

  constructor(stated: StatedLimit, now: number, uncounted: number) {
    this.#left = Math.max(0, stated.remaining! - uncounted)
    this.#limit = stated.limit
    this.#resetAt = now + resetOf(stated)
  }

  /** @param uncounted calls that the server may not have counted when it said so */
  learn(stated: StatedLimit, now: number, uncounted: number): void {
    const sure = Math.max(0, stated.remaining! - uncounted)
    const isNew = now >= this.#resetAt
    this.#left = isNew ? sure : Math.min(Math.max(this.#left, sure), stated.remaining!)
    this.#limit = stated.limit ?? this.#limit
    this.#resetAt = now + resetOf(stated)
  }

  /** Milliseconds until so much may be sent; 0 at once. */
  waitMs(cost: number, now: number, inFlight: number): number {
    if (now >= this.#resetAt || (this.#resetAt === Number.POSITIVE_INFINITY && inFlight === 0))
      this.#renew(inFlight)
    // More than the whole limit: the server decides.
    const wanted = Math.min(cost, this.#limit ?? cost)
    return this.#left >= wanted ? 0 : Math.max(0, this.#resetAt - now)
  }

  take(cost: number): void {
    this.#left = Math.max(0, this.#left - cost)
  }

  /** Milliseconds from one call to the next, to use what is left evenly; infinite: until an answer says more. */
  evenMs(sentAt: number, inFlight: number): number {
    if (this.#left === 0 || (this.#resetAt === Number.POSITIVE_INFINITY && inFlight === 0)) return 0
    return (this.#resetAt - sentAt) / (this.#left + 1)
  }

  get left(): number {
    return this.#left
  }

  /** Whether it says nothing any more. */
  isOver(now: number): boolean {
    return now >= this.#resetAt || this.#resetAt === Number.POSITIVE_INFINITY
  }

  /** The time is over, and nothing new was said: the limit is whole again. Where it is not known, one call finds out. */
  #renew(inFlight: number): void {
    this.#left = Math.max(0, (this.#limit ?? 1) - inFlight)
    this.#resetAt = Number.POSITIVE_INFINITY // until an answer says more
  }
}

function resetOf({ remaining, moreMs, resetMs, windowMs }: StatedLimit): number {
  const more = remaining === 0 ? moreMs : undefined
  return more ?? resetMs ?? moreMs ?? windowMs ?? UNKNOWN_RESET_MS
}
