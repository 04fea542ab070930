import type { Timers } from '@sluice/limiter/gate'
import { startTimer } from '@sluice/limiter/time'

/**
 * Calls `go` every second, until it is stopped; it keeps no process alive.
 * @example
 * const stop = everySecond(() => figures.tick())
 */
export function everySecond(go: () => void, timers?: Timers): () => void {
  const options = { unref: true, ...(timers !== undefined && { timers }) }
  let stop = (): void => undefined
  const next = (): void => {
    stop = startTimer(
      () => {
        next()
        go()
      },
      1_000,
      options,
    )
  }
  next()
  return () => stop()
}
