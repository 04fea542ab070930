import { listOf, type OptionFields, textCheck, wholeFrom } from '@sluice/limiter/options'

/** Where the service records what it was asked, and what it answered. */
export interface RecordOptions {
  /** The file that is written to; when it is full it becomes `FILE.1`, the one before it `FILE.2`, and so on. */
  readonly file: string
  /** Megabytes of one file. Default 100. */
  readonly megabytes?: number
  /** Files that are kept, the one that is written to included. Default 5. */
  readonly files?: number
  /**
   * What is written as it is: `ip`, names of attributes, and keys of descriptors; never `api-key`. All others are
   * hashed, but for values that the rules name. Default: none.
   */
  readonly plain?: readonly string[]
}

/** What they may be. */
export const recordFields: OptionFields<RecordOptions> = {
  file: textCheck,
  megabytes: wholeFrom(1, 1_000_000),
  files: wholeFrom(1, 1_000),
  plain: listOf(textCheck),
}
