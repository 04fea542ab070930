import { SingleBar } from 'cli-progress'
import type { Output } from './io.ts'

export interface Progress {
  /** So many bytes more have been read. */
  add(bytes: number): void
  stop(): void
}

/** A bar on a terminal, with the time that is left, where it is known how many bytes there are. */
export function startProgress(size: number | undefined, terminal: Output): Progress {
  if (terminal.isTTY !== true || size === undefined || size === 0)
    return { add: () => undefined, stop: () => undefined }
  const bar = new SingleBar({
    stream: terminal as NodeJS.WritableStream,
    format: '{bar} {percentage} %, {eta_formatted} left',
    clearOnComplete: true,
    etaBuffer: 100,
  })
  bar.start(size, 0)
  return { add: (bytes) => bar.increment(bytes), stop: () => bar.stop() }
}
