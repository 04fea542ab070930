import type { AskedLine } from './asked-line.ts'
import type { LineFields } from './line-fields.ts'

/** Reads the lines of one file in one format. */
export interface LineReader {
  /** Names of the attributes that are no field of {@link FIELDS}; their places follow those. */
  readonly attributes: readonly string[]
  /**
   * Finds the fields of the line `bytes[from…to)`.
   * @returns why it is no request: `''` where it need not be one, such as a comment; `undefined` when it is
   */
  read(bytes: Buffer, from: number, to: number, line: LineFields): string | undefined
  /** The text of a field, as the client meant it. */
  text(bytes: Buffer, from: number, to: number): string
  /** Whether what a line says depends on those before it, so that all must go through one reader. */
  readonly followsLines?: boolean
  /** Whether an attribute stands for others too: `key` of a CSV. */
  readonly identities?: readonly string[]
  /** Where the line says all that was asked, as its one attribute: reads it; a text says why it cannot be. */
  asked?(bytes: Buffer, from: number, to: number): AskedLine | string
}
