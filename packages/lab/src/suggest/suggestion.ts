import type { AlgorithmName } from '@sluice/limiter/algorithms'
import type { SimulationReport } from '../simulate/report.ts'
import type { KeyDemand } from './demand.ts'
import type { Denied, ShareOf } from './trial.ts'

/** Limits that fit a log. */
export interface Suggestion
  extends Pick<SimulationReport, 'requests' | 'unreadable' | 'unreadableLines' | 'late'> {
  /** The requests that the limit would meet: all figures below are of them. */
  readonly met: Denied & {
    /** Times as in ISO 8601. */
    readonly first: string | null
    readonly last: string | null
  }
  readonly allowance: {
    /** 0–1. */
    readonly share: number
    readonly of: ShareOf
    /** So many of them may be refused. */
    readonly most: number
  }
  readonly demand: readonly KeyDemand[]
  /** What passes without a limit: the most in a second, and the most of one key within a second. */
  readonly unlimited: { readonly peakRate: number; readonly worstBurst: number }
  readonly algorithms: readonly AlgorithmSuggestion[]
  /** Keys that the written rule refuses, most refused first: at most ten. */
  readonly above: readonly KeyAbove[]
  /** The rule, as YAML that a rulebook takes; `null` where no limit keeps the allowance. */
  readonly rule: string | null
  /** What is to be known of the figures. */
  readonly notes: readonly string[]
}

export interface AlgorithmSuggestion {
  readonly algorithm: AlgorithmName
  /** Its frontier, by period and limit. */
  readonly points: readonly SuggestedPoint[]
  /** The point that lets one key have the least in a minute; it was replayed. `null` where there is none. */
  readonly chosen: SuggestedPoint | null
}

export interface SuggestedPoint {
  readonly limit: number
  readonly burst?: number
  /** As a rule writes it, such as `1m`. */
  readonly period: string
  readonly denied: Denied
  /** Refused, of what the allowance counts, 0–1. */
  readonly share: number
  /** The least share that a limit or a burst of one less would refuse. */
  readonly oneLowerShare: number
  /** The most of all keys that passes in one second: requests, or what they cost. */
  readonly peakRate: number
  /** The most of one key that passes within a second. */
  readonly worstBurst: number
  /** What a plain replay of the rule refused; only of the chosen point, and where the log can be read again. */
  readonly replayed?: { readonly denied: number; readonly share: number }
}

/** A key that the rule refuses. */
export interface KeyAbove {
  readonly key: string
  readonly requests: number
  readonly denied: number
  /** The most in any minute. */
  readonly peakMinute: number
  /** The smallest limit, with the same period and a burst of no less, that refuses this key nothing. */
  readonly servedBy: number
  /** Why it looks like a machine: reasons, and no verdict. */
  readonly reasons: readonly string[]
}
