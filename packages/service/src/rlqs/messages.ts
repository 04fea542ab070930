import type { Usage } from './assigner.ts'
import type { Action, Assignment } from './holder.ts'

/** A Duration of protocol buffers; what is 0 may be missing. */
interface ProtoDuration {
  readonly seconds?: number
  readonly nanos?: number
}

/** An entry of a map, as protocol buffers send maps. */
interface MapEntry {
  readonly key?: string
  readonly value?: string
}

/** envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports, as it is decoded: what is 0 or empty may be missing. */
export interface UsageReports {
  readonly domain?: string
  readonly bucket_quota_usages?: readonly {
    readonly bucket_id?: { readonly bucket?: readonly MapEntry[] } | null
    readonly time_elapsed?: ProtoDuration | null
    readonly num_requests_allowed?: number
    readonly num_requests_denied?: number
  }[]
}

/** envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse. */
export interface QuotaResponse {
  readonly bucket_action: readonly object[]
}

export function usagesOf({ bucket_quota_usages: usages = [] }: UsageReports): readonly Usage[] {
  return usages.map(({ bucket_id, time_elapsed, num_requests_allowed = 0, num_requests_denied = 0 }) => ({
    bucket: Object.fromEntries((bucket_id?.bucket ?? []).map(({ key = '', value = '' }) => [key, value])),
    elapsedMs: (time_elapsed?.seconds ?? 0) * 1_000 + (time_elapsed?.nanos ?? 0) / 1_000_000,
    allowed: num_requests_allowed,
    denied: num_requests_denied,
  }))
}

export function quotaResponseOf(actions: readonly Action[]): QuotaResponse {
  return {
    bucket_action: actions.map(({ bucket, assignment, ttlMs }) => ({
      bucket_id: { bucket: Object.entries(bucket).map(([key, value]) => ({ key, value })) },
      ...(assignment === 'abandon'
        ? { abandon_action: {} }
        : {
            quota_assignment_action: {
              assignment_time_to_live: { seconds: Math.floor(ttlMs / 1_000) },
              rate_limit_strategy: strategyOf(assignment),
            },
          }),
    })),
  }
}

const RULES = { ALLOW_ALL: 0, DENY_ALL: 1 }

function strategyOf(assignment: Assignment): object {
  if (typeof assignment === 'string') return { blanket_rule: RULES[assignment] }
  const { tokens, seconds, burst } = assignment
  return {
    token_bucket: {
      max_tokens: burst,
      tokens_per_fill: { value: tokens },
      // Envoy 1.40 cuts the nanoseconds off, and keeps its old bucket where only the seconds differ: so these differ too.
      fill_interval: { seconds, nanos: seconds % 1_000_000_000 },
    },
  }
}
