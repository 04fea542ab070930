import type { Readable, Writable } from 'node:stream'

/** All that a command touches of its process; `process` itself is one. */
export interface Io {
  readonly stdin: Readable
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  on(signal: NodeJS.Signals, listener: () => void): unknown
  off(signal: NodeJS.Signals, listener: () => void): unknown
}

export type Output = Writable & {
  readonly isTTY?: boolean
  /** The size of a terminal, in characters. */
  readonly columns?: number
  readonly rows?: number
}
