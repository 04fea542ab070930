import { type Figures, isKnown } from '../../core/decide/figures.ts'
import type { Outcome } from '../store.ts'

/** The store's last answer about a key. */
export interface LastAnswer {
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
export function updated(
  last: LastAnswer | undefined,
  outcome: Outcome,
  answered: number,
): LastAnswer | undefined {
  if (outcome.degraded !== true) return { figures: outcome.figures[0] as Figures, at: outcome.at, answered }
  return last && { ...last, figures: { ...last.figures, remaining: 0 } }
}

/**
 * The answer to a request that was granted from what had been charged before: right if no other request was admitted since
 * the store answered. `remaining` is what the store had left and what is left here; after the reset, everything.
 * Waits are the store's, counted from when it had answered, so never too short; once `remaining` has grown there, the
 * reset stands for its next growth.
 * @param left charged and not granted, after this
 */
export function grantedBy(last: LastAnswer, left: number, now: number, chargedAt: number): Outcome {
  const { limit, remaining, moreAfterMs, resetAfterMs } = last.figures
  const since = Math.floor((now - last.answered) * 1_000)
  const rest = (ms: number | null): number | null =>
    ms === null ? null : (Math.round(ms * 1_000) - since) / 1_000
  const reset = rest(resetAfterMs)
  const more = rest(moreAfterMs)
  const figures: Figures = {
    ...last.figures,
    allowed: true,
    remaining: reset !== null && reset <= 0 ? limit : remaining + left,
    retryAfterMs: 0,
    moreAfterMs: more === null || more > 0 ? more : reset,
    resetAfterMs: reset,
  }
  return { allowed: true, at: last.at + since, chargedAt, figures: [capped(figures)] }
}

/** The store's answer, with what is left here beside it. */
export function joined(outcome: Outcome, left: number): Outcome {
  const figures = outcome.figures[0]!
  if (!isKnown(figures)) return outcome
  return { ...outcome, figures: [capped({ ...figures, remaining: figures.remaining + left })] }
}

/** Units taken ahead may lie beside a bucket that is full again: together they are no more than full. */
function capped(figures: Figures): Figures {
  const { limit, remaining } = figures
  return remaining < limit ? figures : { ...figures, remaining: limit, moreAfterMs: null, resetAfterMs: 0 }
}
