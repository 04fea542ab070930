import type { CompileOptions, DescriptorQuery, Domain, Request } from '@sluice/limiter/rules'
import type { LineOptions } from '../traffic/line-maker.ts'
import type { RowArrays } from './row-columns.ts'

/** What a job works on: plain data. */
export interface JobPlan {
  readonly study: StudyPlan
  readonly compile: CompileOptions
  readonly lines: Pick<LineOptions<object>, 'format' | 'fields' | 'cost' | 'domain' | 'wanted'>
  readonly parts: number
}

/** Which study, and of what rules. */
export type StudyPlan =
  | { readonly kind: 'simulate'; readonly domain: Domain }
  | { readonly kind: 'compare'; readonly old: Domain; readonly new: Domain }

/** A request as it was read, whoever decides it. */
export interface ReadRequest {
  readonly request: Request
  readonly cost: number | undefined
  readonly recorded: readonly DescriptorQuery[] | undefined
}

/** Each is answered once, in the order in which they come. */
export type JobMessage =
  | ParseMessage
  | DecideMessage
  | { readonly kind: 'close'; readonly source: number }
  | { readonly kind: 'finish' }

/** Whole lines of a source. */
export interface ParseMessage {
  readonly kind: 'parse'
  /** Numbers the sources. */
  readonly source: number
  /** The source's first lines, by which its format is seen. */
  readonly head: readonly (Uint8Array | undefined)[]
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Whether the first line is a header. */
  readonly hasHeader: boolean
}

/** What became of a block's lines. Requests are numbered among the different ones that the job has read of the source. */
export interface ParsedBlock extends RowArrays {
  readonly lines: number
  /** Those that are new, in the order of their numbers, and the part to which each belongs. */
  readonly fresh: readonly (ReadRequest & { readonly part: number })[]
  /** No lower number will be named after this block. */
  readonly forget: number
  readonly unreadable: number
  /** The first ten; lines count from the block's first, which is 0. */
  readonly shown: readonly { readonly line: number; readonly reason: string }[]
}

/** Requests of one part, in the order of their times, numbered as `fresh` gives them. */
export interface DecideMessage extends RowArrays {
  readonly kind: 'decide'
  /** Begins the numbers anew. */
  readonly isAnew: boolean
  /** They take the next numbers. */
  readonly fresh: readonly ReadRequest[]
}
