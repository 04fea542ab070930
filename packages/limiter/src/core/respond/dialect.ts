import { binding } from '../decide/combine.ts'
import type { Decision, PolicyFigures } from '../decide/decision.ts'
import type { Figures } from '../decide/figures.ts'

export type Header = readonly [name: string, value: string]

/** What a quota counts, by the names that draft-ietf-httpapi-ratelimit-headers registers. */
export type QuotaUnit = 'requests' | 'content-bytes' | 'concurrent-requests'

/** One policy as a client may see it: figures of {@link Figures}, in milliseconds. */
export interface ReportedPolicy
  extends Pick<Figures, 'limit' | 'remaining' | 'retryAfterMs' | 'moreAfterMs' | 'resetAfterMs'> {
  readonly name: string
  /** May carry a fraction; undefined where there is no window. */
  readonly windowSeconds?: number | undefined
  readonly unit: QuotaUnit
  /** Tells counters of one policy apart: a short hash of the key, never the key. */
  readonly partitionKey?: Uint8Array | undefined
}

/** All that a dialect may say of a decision. */
export interface Report {
  readonly allowed: boolean
  readonly policies: readonly ReportedPolicy[]
  /** Index of the policy that decided; −1 when there is none. */
  readonly binding: number
  readonly cost: number
  /** Wall clock, milliseconds since the epoch. */
  readonly nowMs: number
}

/** One way of putting figures into response headers. A new one is a file beside this and a line in dialects.ts. */
export interface Dialect {
  readonly name: string
  /** Every header it may send, for `Access-Control-Expose-Headers`. */
  readonly names: readonly string[]
  headers(report: Report): Header[]
}

export interface ReportOptions {
  /** Wall clock, milliseconds since the epoch. */
  readonly nowMs: number
  /** The request's cost. Default 1. */
  readonly cost?: number
  /** Report every policy (default), or only the one that decided. */
  readonly policies?: 'all' | 'binding'
  /** What a policy counts. Default: `requests`, or `concurrent-requests` where there is no window. */
  readonly unit?: (policy: string) => QuotaUnit | undefined
  readonly partitionKey?: (policy: string) => Uint8Array | undefined
}

/**
 * What clients may know of a decision. Shadow policies are left out, and a degraded decision reports none: its
 * figures are not those of the quota.
 */
export function reportOf(decision: Decision, options: ReportOptions): Report {
  const shown = decision.degraded ? [] : enforced(decision.policies)
  const index = binding(shown, decision.allowed, () => true)
  const all = options.policies !== 'binding'
  return {
    allowed: decision.allowed,
    policies: (all ? shown : shown.slice(index, index + 1)).map((policy) => reported(policy, options)),
    binding: all || index < 0 ? index : 0,
    cost: options.cost ?? 1,
    nowMs: options.nowMs,
  }
}

function enforced(policies: readonly PolicyFigures[]): readonly PolicyFigures[] {
  return policies.some(isShadow) ? policies.filter((policy) => !isShadow(policy)) : policies
}

function isShadow({ shadow }: PolicyFigures): boolean {
  return shadow === true
}

function reported(figures: PolicyFigures, options: ReportOptions): ReportedPolicy {
  const { policy: name, limit, remaining, retryAfterMs, moreAfterMs, resetAfterMs, windowSeconds } = figures
  return {
    name,
    limit,
    remaining,
    retryAfterMs,
    moreAfterMs,
    resetAfterMs,
    windowSeconds,
    unit: options.unit?.(name) ?? (windowSeconds === undefined ? 'concurrent-requests' : 'requests'),
    partitionKey: options.partitionKey?.(name),
  }
}
