import type { Request } from '@sluice/limiter/rules'

/** One request of the past. */
export interface LogEntry {
  /** Counts from 1. */
  readonly line: number
  /** Microseconds since the epoch. */
  readonly at: number
  readonly request: Request
  /** Of the request, where columns were named for it. */
  readonly cost?: number
}

/** A line that is no request, and why. */
export interface Unreadable {
  readonly line: number
  readonly reason: string
}

/** What a line says, before anyone knows its number; a text says why it says nothing. */
export type Parsed = Pick<LogEntry, 'at' | 'request'> | string

export type LineParser = (text: string) => Parsed
