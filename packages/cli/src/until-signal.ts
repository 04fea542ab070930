import type { Io } from './io.ts'

/** Resolves when the process is asked to end: SIGINT (Ctrl-C) or SIGTERM. */
export function untilSignal(io: Io): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      io.off('SIGINT', stop)
      io.off('SIGTERM', stop)
      resolve()
    }
    io.on('SIGINT', stop)
    io.on('SIGTERM', stop)
  })
}
