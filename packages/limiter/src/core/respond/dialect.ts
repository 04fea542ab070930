import { binding } from '../decide/combine.ts'
import type { Decision, PolicyFigures } from '../decide/decision.ts'

export type Header = readonly [name: string, value: string]

/** What a quota counts, by the names that draft-ietf-httpapi-ratelimit-headers registers. */
export type QuotaUnit = 'requests' | 'content-bytes' | 'concurrent-requests'

/** One policy as a client may see it. */
export interface ReportedPolicy extends Pick<PolicyFigures, ReportedFigure> {
  /** Default: `requests`, or `concurrent-requests` where there is no window. */
  readonly unit?: QuotaUnit | undefined
  /** Tells counters of one policy apart: a short hash of the key, never the key. */
  readonly partitionKey?: Uint8Array | undefined
}
type ReportedFigure =
  | 'policy'
  | 'allowed'
  | 'limit'
  | 'remaining'
  | 'retryAfterMs'
  | 'moreAfterMs'
  | 'resetAfterMs'
  | 'windowSeconds'

/** All that a dialect may say of a decision. */
export interface Report {
  readonly allowed: boolean
  readonly policies: readonly ReportedPolicy[]
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
 * @example
 * const report = reportOf(decision, { nowMs: Date.now() })
 * const headers = dialectsOf('ietf').flatMap((dialect) => dialect.headers(report))
 */
export function reportOf(decision: Decision, options: ReportOptions): Report {
  const { allowed, degraded, policies } = decision
  const shown = degraded ? [] : enforced(policies)
  return {
    allowed,
    policies: marked(options.policies === 'binding' ? deciding(shown, allowed) : shown, options),
    cost: options.cost ?? 1,
    nowMs: options.nowMs,
  }
}

function deciding(shown: readonly PolicyFigures[], allowed: boolean): readonly PolicyFigures[] {
  const index = binding(shown, allowed)
  return shown.slice(index, index + 1)
}

/** The policies as they are, which is all that most responses need. */
function marked(policies: readonly PolicyFigures[], options: ReportOptions): readonly ReportedPolicy[] {
  const { unit, partitionKey } = options
  if (unit === undefined && partitionKey === undefined) return policies
  return policies.map((own) => ({
    ...own,
    unit: unit?.(own.policy),
    partitionKey: partitionKey?.(own.policy),
  }))
}

function enforced(policies: readonly PolicyFigures[]): readonly PolicyFigures[] {
  if (policies.length === 1 && policies[0]!.shadow !== true) return policies
  return policies.filter(({ shadow }) => shadow !== true)
}
