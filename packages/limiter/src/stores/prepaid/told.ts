import type { Figures } from '../../core/decide/figures.ts'
import type { Outcome } from '../store.ts'

/** What the store last said of a key. */
export interface Told {
  readonly figures: Figures
  /** The store's clock, in microseconds. */
  readonly at: number
  /** Monotonic milliseconds: when the answer was in. */
  readonly answered: number
}

/**
 * What is known after an answer. One in the store's place says nothing, but that no more should be taken ahead; what
 * was paid for before stays good.
 */
export function learned(told: Told | undefined, outcome: Outcome, answered: number): Told | undefined {
  if (outcome.degraded !== true) return { figures: outcome.figures[0]!, at: outcome.at, answered }
  return told && { ...told, figures: { ...told.figures, remaining: 0 } }
}

/** Whether its waits still say anything: by the end of the longest, everything may be otherwise. */
export function isFresh(told: Told | undefined, now: number): told is Told {
  if (told === undefined) return false
  const { resetAfterMs } = told.figures
  return resetAfterMs === null || now - told.answered < resetAfterMs
}

/**
 * The answer to a request that was granted from what had been charged before. `remaining` is what the store had left
 * and what is left here: right if nobody else was admitted since. Waits are the store's, counted from when it had
 * answered, so never too short; once `remaining` has grown there, the end of it all stands for the next growth.
 * @param left charged and not granted, after this
 */
export function grantedBy(
  { figures, at, answered }: Told,
  left: number,
  cost: number,
  now: number,
  chargedAt: number,
): Outcome {
  const since = Math.floor((now - answered) * 1_000)
  const rest = (ms: number | null): number | null =>
    ms === null ? null : (Math.round(ms * 1_000) - since) / 1_000
  const more = rest(figures.moreAfterMs)
  const reset = rest(figures.resetAfterMs)
  const own: Figures = {
    allowed: true,
    limit: figures.limit,
    remaining: Math.min(figures.limit - cost, figures.remaining + left),
    retryAfterMs: 0,
    moreAfterMs: more === null || more > 0 ? more : reset,
    resetAfterMs: reset,
    delayMs: 0,
  }
  return { allowed: true, at: at + since, chargedAt, figures: [own] }
}

/** The store's answer, with what is left here beside it. */
export function joined(outcome: Outcome, left: number): Outcome {
  const [figures] = outcome.figures as [Figures]
  const remaining = Math.min(figures.limit, figures.remaining + left)
  const waits = remaining === figures.limit ? { moreAfterMs: null, resetAfterMs: 0 } : undefined
  return { ...outcome, figures: [{ ...figures, remaining, ...waits }] }
}
