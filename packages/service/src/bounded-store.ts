import type { Outcome, Step } from '@sluice/limiter/decide'
import type { FallbackStore } from '@sluice/limiter/stores/fallback'
import type { Store } from '@sluice/limiter/stores/store'

/** Timers that bound a question. */
export interface BoundTimers {
  setTimeout(run: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** Node calls back at once after more: a caller who would wait for a month would get an answer without the store. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1

/**
 * Asks the store, for as long as the caller waits: then the rules' `onStoreError` answer, as they do where the store
 * fails. The question goes on by itself, and a breaker hears what becomes of it: a caller who is in a hurry does not
 * make the store look broken. A late answer may have charged; nothing is asked twice.
 * @param withinMs milliseconds, above 0; more than a timer can wait (24.8 days) counts as that
 */
export async function decideWithin(
  { store, fallback }: { readonly store: Store; readonly fallback?: FallbackStore | undefined },
  steps: readonly Step[],
  peek: boolean,
  withinMs: number,
  timers: BoundTimers = globalThis as BoundTimers,
): Promise<Outcome> {
  const asked = store.decide(steps, peek)
  if (fallback === undefined || !(asked instanceof Promise)) return asked
  return new Promise((resolve, reject) => {
    let done = false
    const late = (): void => {
      // A process that was held up finds its timers due before it has read its sockets: the answer may lie there.
      setImmediate(() => {
        if (!done) resolve(fallback.without(steps, peek))
      })
    }
    const timer = timers.setTimeout(late, Math.min(Math.max(1, withinMs), LONGEST_TIMER_MS))
    asked.then(
      (outcome) => {
        done = true
        timers.clearTimeout(timer)
        resolve(outcome)
      },
      (error) => {
        done = true
        timers.clearTimeout(timer)
        reject(error)
      },
    )
  })
}
