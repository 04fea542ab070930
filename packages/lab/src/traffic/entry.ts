/** A line that is no request, and why. */
export interface Unreadable {
  /** The file, where several are read. */
  readonly file?: string
  /** Counts from 1. */
  readonly line: number
  readonly reason: string
}
