import { binding } from '../decide/combine.ts'
import type { Decision, PolicyFigures } from '../decide/decision.ts'
import { isKnown } from '../decide/figures.ts'

export type Header = readonly [name: string, value: string]

/** What a quota counts, by the names that draft-ietf-httpapi-ratelimit-headers registers. */
export type QuotaUnit = 'requests' | 'content-bytes' | 'concurrent-requests'

/** One policy as a client may see it. */
export interface ReportedPolicy extends Pick<KnownPolicy, ReportedFigure> {
  /** Default: `requests`, or `concurrent-requests` where there is no window. */
  readonly unit?: QuotaUnit | undefined
  /** Tells counters of one policy apart: a short hash of the key, never the key. */
  readonly partitionKey?: Uint8Array | undefined
}
type KnownPolicy = PolicyFigures<string, number>
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
  /** Of a refusal: what Retry-After says, in whole seconds; absent where no wait helps. */
  readonly retrySeconds?: number | undefined
}

/**
 * What the headers of an answer say of one policy. A figure that they do not give is absent. Durations are in
 * milliseconds from the `nowMs` of the reader, never negative, and may carry a fraction.
 */
export interface ReadPolicy {
  /** The policy's name. */
  readonly policy?: string | undefined
  /** Whole, ≥ 0, a safe integer; so is `remaining`. */
  readonly limit?: number | undefined
  readonly remaining?: number | undefined
  /** Length of the window in seconds, above 0. */
  readonly windowSeconds?: number | undefined
  /** Until more than `remaining` is available. */
  readonly moreAfterMs?: number | undefined
  /** Until the whole limit is available. */
  readonly resetAfterMs?: number | undefined
  readonly partitionKey?: Uint8Array | undefined
  /** A {@link QuotaUnit}, or whatever else the server counts. */
  readonly unit?: string | undefined
}

/** What the headers of an answer say: at least one policy, at most {@link MAX_READ_POLICIES}. */
export interface ReadReport {
  readonly policies: readonly ReadPolicy[]
}

/** No reader gives more policies than this, whatever the headers hold. */
export const MAX_READ_POLICIES = 100

/**
 * Gives a header's value, or nothing where the answer does not have it. The case of the name must not matter, as it does
 * not in `(name) => response.headers.get(name)`. Several lines of one name are joined with `, `.
 */
export type HeaderLookup = (name: string) => string | null | undefined

/** One way of putting figures into response headers. */
export interface DialectWriter {
  readonly name: string
  /** Every header that it may send, as it writes them: for `Access-Control-Expose-Headers`, and for its reader. */
  readonly names: readonly string[]
  /**
   * The header lines of a report: none where it has no policies. Numbers are whole, seconds are rounded up, and of a
   * refusal a policy that refused is reported. It depends on the report alone, and leaves it as it is.
   */
  headers(report: Report): Header[]
}

/**
 * One way of putting figures into response headers, and of reading them back. A new one is a file beside this and its
 * lines in dialect-writers.ts and dialects.ts; or any object of this shape, given where a dialect's name is.
 * `dialectSuite` of @sluice/conformance says whether it is right.
 */
export interface Dialect extends DialectWriter {
  /**
   * The figures in an answer's headers, as far as they can be understood; undefined where there are none. Any text is
   * accepted, and none makes it throw. Texts of more than 16 KiB are not read.
   * @param nowMs the reader's wall clock, milliseconds since the epoch; the answer's own `Date` is better where a
   *   dialect gives instants, since the two clocks may differ
   */
  read(headers: HeaderLookup, nowMs: number): ReadReport | undefined
}

/** Apart from the writer: who only answers requests need not load it. */
export type DialectReader = Dialect['read']

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
  /** Of a refusal: what Retry-After says, in whole seconds. */
  readonly retrySeconds?: number | undefined
}

/** As reportOf, of options that were checked. */
export function reportFor(decision: Decision, options: ReportOptions): Report {
  const { allowed, degraded, policies } = decision
  const shown = degraded ? [] : enforced(policies)
  return {
    allowed,
    policies: marked(options.policies === 'binding' ? deciding(shown, allowed) : shown, options),
    cost: options.cost ?? 1,
    nowMs: options.nowMs,
    retrySeconds: options.retrySeconds,
  }
}

function deciding(shown: readonly KnownPolicy[], allowed: boolean): readonly KnownPolicy[] {
  const index = binding(shown, allowed)
  return shown.slice(index, index + 1)
}

/** The policies as they are, which is all that most responses need. */
function marked(policies: readonly KnownPolicy[], options: ReportOptions): readonly ReportedPolicy[] {
  const { unit, partitionKey } = options
  if (unit === undefined && partitionKey === undefined) return policies
  return policies.map((own) => ({
    ...own,
    unit: unit?.(own.policy),
    partitionKey: partitionKey?.(own.policy),
  }))
}

function enforced(policies: readonly PolicyFigures[]): readonly KnownPolicy[] {
  if (policies.length === 1 && policies[0]!.shadow !== true && isKnownPolicy(policies[0]!))
    return policies as readonly KnownPolicy[]
  const known = policies.filter(isKnownPolicy)
  const refusing = known.filter(isEnforced)
  return refusing.length > 0 ? refusing : known.filter(({ shadow }) => shadow !== true)
}

function isKnownPolicy(own: PolicyFigures): own is KnownPolicy {
  return isKnown(own)
}

/** Whether a policy is one that refuses requests over its limit. */
export function isEnforced({ shadow, deprioritizes }: PolicyFigures): boolean {
  return shadow !== true && deprioritizes !== true
}
