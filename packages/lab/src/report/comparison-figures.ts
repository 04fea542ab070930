import type { Comparison } from '../compare/comparison.ts'
import type { QuotaFigures } from './traffic-figures.ts'

/** All that the page of a comparison shows. Its size is bounded, whatever the log. Times are milliseconds of the log. */
export interface ComparisonFigures {
  /** What was replayed, such as a file's name. */
  readonly traffic: string
  readonly domain: string
  /** What the two rulebooks are called, such as their files. */
  readonly rulebooks: { readonly old: string; readonly new: string }
  /** The same as the comparison gives alone. */
  readonly comparison: Comparison
  /** Time of the first and of the last request; `null` where there is none. */
  readonly first: number | null
  readonly last: number | null
  readonly timeline: ChangeTimeline
  /** When each of the comparison's `topKeys` was decided otherwise, in their order. */
  readonly newlyDenied: readonly ChangedKey[]
  readonly newlyAdmitted: readonly ChangedKey[]
  /** Every policy: those of the old rules, then those that only the new ones have. */
  readonly limits: readonly ComparedLimit[]
}

/** Requests over time, a number for each bin; those that both rulebooks admit are what is left. */
export interface ChangeTimeline {
  /** When the first bin begins. */
  readonly start: number
  /** Milliseconds that a bin lasts. */
  readonly width: number
  readonly requests: readonly number[]
  readonly newlyDenied: readonly number[]
  readonly newlyAdmitted: readonly number[]
  readonly deniedByBoth: readonly number[]
}

/** One key of the policy that refused, with a number of its requests for each bin of the timeline. */
export interface ChangedKey {
  readonly policy: string
  readonly key: string
  /** False where some of its bins had to be let go for want of room. */
  readonly isWhole: boolean
  readonly requests: readonly number[]
}

/** The quotas that a policy went by in each rulebook, those met most first; none: no request met it. */
export interface ComparedLimit {
  readonly name: string
  readonly old: readonly QuotaFigures[]
  readonly new: readonly QuotaFigures[]
}
