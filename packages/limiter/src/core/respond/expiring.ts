import { binding } from '../decide/combine.ts'
import type { Header, Report, ReportedPolicy } from './dialect.ts'
import { secondsUp, wholeWindow } from './seconds.ts'
import { integer } from './structured-field.ts'

/** A policy whose window comes round: all that these dialects can speak of. */
interface Windowed extends ReportedPolicy {
  readonly resetAfterMs: number
}

/** The figures of the one policy that dialects without names report, ready to be printed. */
export interface Expiring {
  readonly policy: ReportedPolicy
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until the whole quota is available. */
  readonly resetAfterMs: number
  /** The same in seconds, rounded up. */
  readonly reset: number
}

/**
 * The "expiring" policy of drafts 00 to 07: on a refusal the one that refused, else that with the least remaining,
 * and of equals the one that resets later. Undefined when it has no window, as with concurrency.
 * @example
 * const remaining = expiringOf(report)?.remaining
 */
export function expiringOf(report: Report): Expiring | undefined {
  const { allowed, policies } = report
  const policy = allowed ? tightest(policies) : policies[binding(policies, false)]
  if (policy === undefined || !isWindowed(policy)) return undefined
  const { limit, remaining, resetAfterMs } = policy
  return {
    policy,
    limit: integer(limit),
    remaining: integer(remaining),
    resetAfterMs,
    reset: secondsUp(resetAfterMs),
  }
}

/**
 * `100;w=60, 5000;w=86400`: the windows that whole seconds can state, each quota once, since clients know a
 * policy by its quota alone; the expiring policy goes before others of the same quota.
 */
export function quotaPolicies(report: Report, expiring: Expiring): string[] {
  const taken = new Set([expiring.limit])
  const quotas: string[] = []
  for (const policy of report.policies) {
    const window = wholeWindow(policy.windowSeconds)
    const quota = integer(policy.limit)
    if (window === undefined || (policy !== expiring.policy && taken.has(quota))) continue
    taken.add(quota)
    quotas.push(`${quota};w=${window}`)
  }
  return quotas
}

/** Drafts 04 to 07: the policies in a field of their own; none when no window can be stated. */
export function policyField(report: Report, expiring: Expiring): Header[] {
  const quotas = quotaPolicies(report, expiring)
  return quotas.length === 0 ? [] : [['RateLimit-Policy', quotas.join(', ')]]
}

function isWindowed(policy: ReportedPolicy): policy is Windowed {
  return policy.windowSeconds !== undefined && policy.resetAfterMs !== null
}

function tightest(policies: readonly ReportedPolicy[]): Windowed | undefined {
  let best: Windowed | undefined
  for (let i = 0; i < policies.length; i++) {
    const policy = policies[i]!
    if (isWindowed(policy) && (best === undefined || isTighter(policy, best))) best = policy
  }
  return best
}

function isTighter(a: Windowed, b: Windowed): boolean {
  return a.remaining < b.remaining || (a.remaining === b.remaining && a.resetAfterMs > b.resetAfterMs)
}
