import type { BreakerState } from '@sluice/limiter/events'
import type { LatencyQuantiles } from './latency-counts.ts'

/** What happened in one second: what `/v1/live` sends. Counts are of this second, unless they say otherwise. */
export interface LiveSecond {
  /** The end of the second, in milliseconds since the epoch. */
  readonly at: number
  readonly requests: LiveRequests
  /** Since the service started; the same as its metrics say. */
  readonly totals: LiveRequests
  /** Milliseconds from question to answer, without the network; null where nothing was asked. */
  readonly latency: LatencyQuantiles | null
  readonly store: LiveStore
  readonly rules: LiveRulebook
  /** Policies that decided in this second, those first that refused most; at most 200. */
  readonly policies: readonly LivePolicy[]
  /** Policies beyond these. */
  readonly policiesLeftOut: number
}

export interface LiveRequests {
  readonly allowed: number
  readonly denied: number
  /** Of both, those decided without the store. */
  readonly degraded: number
}

export interface LiveStore {
  readonly kind: 'memory' | 'shared'
  /** `closed` is well; null in memory, where nothing can fail. */
  readonly breaker: BreakerState | null
  /** Questions that it did not answer, or not in time. */
  readonly failures: number
  /** Milliseconds that its answers took; null where there were none. */
  readonly latency: LatencyQuantiles | null
  /** Keys held in memory; null for a shared store. */
  readonly keys: number | null
}

export interface LiveRulebook {
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly since: number
  /** Why the files, as they are now, are not in force; null if they are. */
  readonly mistake: string | null
  /** `app`: there are no files, the limits are those of an app that have decided a request; `version` is their number. */
  readonly origin?: 'app'
}

export interface LivePolicy {
  readonly domain: string
  readonly policy: string
  readonly allowed: number
  readonly limited: number
  /** Would have been refused, in shadow mode. */
  readonly shadow: number
  readonly deprioritized: number
  /** Decided without the store. */
  readonly degraded: number
  /** Decisions, or a sample of them, by the share of the limit in use: ten tenths, and last those over the limit. */
  readonly fullness: readonly number[]
}

/** What a stream begins with: seconds that are over. */
export interface LiveHistory {
  /** The last quarter of an hour, a row for each second. */
  readonly rows: readonly LiveRow[]
  /** The last minute in full. */
  readonly seconds: readonly LiveSecond[]
}

/**
 * `at` (the end of the second), what a policy was asked for, what it admitted and what it refused. What it decided without
 * the store is in the first alone.
 */
export type PolicySecond = readonly [at: number, demand: number, admitted: number, refused: number]

/** What a policy was asked for, in one second or in all that are kept. */
interface DemandCounts {
  readonly demand: number
  readonly admitted: number
  readonly refused: number
}

/** One policy's last quarter of an hour. */
export interface PolicySpike extends DemandCounts {
  readonly domain: string
  readonly policy: string
  /** The second in which most was asked for; `at` is its end, in milliseconds since the epoch. */
  readonly peak: DemandCounts & { readonly at: number }
}

/** `at`, allowed, denied, degraded, p50, p95, p99 (null where nothing was asked). */
export type LiveRow = readonly [number, number, number, number, number | null, number | null, number | null]
