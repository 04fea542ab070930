import type { Outcome, Step } from '@sluice/limiter/decide'
import type { FallbackStore } from '@sluice/limiter/stores/fallback'
import type { Store } from '@sluice/limiter/stores/store'
import { startTimer, type Timers } from '@sluice/limiter/time'

/**
 * Asks the store, for as long as the caller waits: then the rules' `onStoreError` answer, as they do where the store
 * fails. The question goes on by itself, and a breaker hears what becomes of it: a caller who is in a hurry does not
 * make the store look broken. A late answer may have charged; nothing is asked twice.
 * @param withinMs milliseconds, above 0
 */
export function decideWithin(
  { store, fallback }: { readonly store: Store; readonly fallback?: FallbackStore | undefined },
  steps: readonly Step[],
  peek: boolean,
  withinMs: number,
  timers: Timers = globalThis as unknown as Timers,
): Outcome | Promise<Outcome> {
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
    const stop = startTimer(late, Math.max(1, withinMs), { timers })
    asked.then(
      (outcome) => {
        done = true
        stop()
        resolve(outcome)
      },
      (error) => {
        done = true
        stop()
        reject(error)
      },
    )
  })
}
