import { startTimer, type Timers } from './timers.ts'

/** How a pause ended: its time was over, it was ended before, or the caller left. */
export type PauseEnd = 'over' | 'woken' | 'left'

/** A wait that can be ended before its time. */
export interface Pause {
  readonly ended: Promise<PauseEnd>
  wake(): void
}

/**
 * @param ms milliseconds, or `undefined`: until it is woken
 * @param leaving ends the pause when it aborts
 */
export function startPause(
  ms: number | undefined,
  leaving: AbortSignal | undefined,
  timers: Timers | undefined,
): Pause {
  let end: (how: PauseEnd) => void
  const ended = new Promise<PauseEnd>((resolve) => {
    end = (how) => {
      stop?.()
      leaving?.removeEventListener('abort', leave)
      resolve(how)
    }
  })
  const leave = (): void => end('left')
  const stop =
    ms === undefined ? undefined : startTimer(() => end('over'), ms, timers === undefined ? {} : { timers })
  if (leaving?.aborted) leave()
  else leaving?.addEventListener('abort', leave)
  return { ended, wake: () => end('woken') }
}
