import type { Dialect, Header, QuotaUnit, Report, ReportedPolicy } from './dialect.ts'
import { secondsUp, wholeWindow } from './seconds.ts'
import { parameter, string } from './structured-field.ts'

/**
 * draft-ietf-httpapi-ratelimit-headers-08 to -11: one item for each policy.
 *
 *     RateLimit-Policy: "hour";q=1000;w=3600, "day";q=5000;w=86400
 *     RateLimit: "hour";r=1000;t=3600, "day";r=100;t=36000
 *
 * `t` is the time until `r` grows, which is what -10 and -11 ask for, and never passes Retry-After.
 */
export const ietf: Dialect = {
  name: 'ietf',
  names: ['RateLimit-Policy', 'RateLimit'],
  headers: (report) =>
    quotaFields(
      report,
      (policy) =>
        parameter('r', policy.remaining) +
        parameter('t', untilMore(policy)) +
        parameter('pk', policy.partitionKey),
    ),
}

/** Both fields; `limit` gives the parameters of the second. None without policies: an empty List is not sent. */
export function quotaFields({ policies }: Report, limit: (policy: ReportedPolicy) => string): Header[] {
  if (policies.length === 0) return []
  let quotas = ''
  let limits = ''
  for (const policy of policies) {
    const name = quotas === '' ? string(policy.policy) : `, ${string(policy.policy)}`
    quotas += name + quota(policy)
    limits += name + limit(policy)
  }
  return [
    ['RateLimit-Policy', quotas],
    ['RateLimit', limits],
  ]
}

/** Seconds until more is available; undefined when the quota is full, or has no window. */
export function untilMore(policy: ReportedPolicy): number | undefined {
  return policy.moreAfterMs === null || policy.windowSeconds === undefined
    ? undefined
    : secondsUp(policy.moreAfterMs)
}

/** What is counted, unless that is requests. */
function unitOf({ unit, windowSeconds }: ReportedPolicy): QuotaUnit | undefined {
  if (unit === undefined && windowSeconds === undefined) return 'concurrent-requests'
  return unit === 'requests' ? undefined : unit
}

/** Of the first field. */
function quota(policy: ReportedPolicy): string {
  return (
    parameter('q', policy.limit) +
    parameter('qu', unitOf(policy)) +
    parameter('w', wholeWindow(policy.windowSeconds)) +
    parameter('pk', policy.partitionKey)
  )
}
