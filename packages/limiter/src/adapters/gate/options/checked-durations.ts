import type { CalendarPeriod } from '../../../core/decide/policy.ts'
import type { Duration } from '../../../core/time.ts'

/** The durations of an adapter's options, where each literal that should be a duration is one. */
export interface CheckedDurations<Text extends string> extends CheckedPolicy<Text> {
  readonly windowMs?: number | Duration<Text>
  readonly timeWindow?: number | Duration<Text>
  readonly tarpit?: number | Duration<Text>
  readonly policies?: Readonly<Record<string, CheckedPolicy<Text>>>
  readonly plans?: Readonly<Record<string, number | { readonly period?: number | Duration<Text> }>>
  readonly overrides?: Readonly<Record<string, number | { readonly period?: number | Duration<Text> }>>
}

interface CheckedPolicy<Text extends string> {
  readonly period?: number | CalendarPeriod | Duration<Text>
  readonly block?: {
    readonly within: number | Duration<Text>
    readonly for: number | Duration<Text>
  }
}
