import type { Io } from './io.ts'

/**
 * Calls `leave` each time the process is asked to end: SIGINT (Ctrl-C) or SIGTERM.
 * @returns what ends that
 */
export function onSignals(io: Io, leave: () => void): () => void {
  io.on('SIGINT', leave)
  io.on('SIGTERM', leave)
  return () => {
    io.off('SIGINT', leave)
    io.off('SIGTERM', leave)
  }
}

/** Resolves when the process is asked to end. */
export function untilSignal(io: Io): Promise<void> {
  return new Promise((resolve) => {
    const end = onSignals(io, () => {
      end()
      resolve()
    })
  })
}
