import { startTimer, type TimerOptions } from './timers.ts'

/** How a pause ended: its time was over, it was ended before, or the caller left. */
export type PauseEnd = 'over' | 'woken' | 'left'

/** A wait that can be ended before its time. */
export interface Pause {
  readonly ended: Promise<PauseEnd>
  wake(): void
}

/**
 * A wait for a time, or for what wakes it, or for a caller who leaves: whichever comes first.
 * @param ms milliseconds, or `undefined`: until it is woken
 * @param leaving ends the pause when it aborts
 * @example
 * if ((await startPause(1_000, request.signal).ended) === 'left') return
 */
export function startPause(ms: number | undefined, leaving?: AbortSignal, options: TimerOptions = {}): Pause {
  let end: (how: PauseEnd) => void
  const ended = new Promise<PauseEnd>((resolve) => {
    end = (how) => {
      stop?.()
      leaving?.removeEventListener('abort', leave)
      resolve(how)
    }
  })
  const leave = (): void => end('left')
  const stop = ms === undefined ? undefined : startTimer(() => end('over'), ms, options)
  if (leaving?.aborted) leave()
  else leaving?.addEventListener('abort', leave)
  return { ended, wake: () => end('woken') }
}
