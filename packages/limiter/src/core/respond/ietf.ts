import type { Dialect, Header, Report, ReportedPolicy } from './dialect.ts'
import { secondsUp, wholeWindow } from './seconds.ts'
import { item, type Parameter } from './structured-field.ts'

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
    quotaFields(report, (policy) => [
      ['r', policy.remaining],
      ['t', untilMore(policy)],
      ['pk', policy.partitionKey],
    ]),
}

/** Both fields; `limit` gives the parameters of the second. None without policies: an empty List is not sent. */
export function quotaFields(report: Report, limit: (policy: ReportedPolicy) => Parameter[]): Header[] {
  const { policies } = report
  if (policies.length === 0) return []
  return [
    ['RateLimit-Policy', policies.map(quota).join(', ')],
    ['RateLimit', policies.map((policy) => item(policy.name, limit(policy))).join(', ')],
  ]
}

/** Seconds until more is available; undefined when the quota is full, or has no window. */
export function untilMore(policy: ReportedPolicy): number | undefined {
  return policy.moreAfterMs === null || policy.windowSeconds === undefined
    ? undefined
    : secondsUp(policy.moreAfterMs)
}

function quota(policy: ReportedPolicy): string {
  return item(policy.name, [
    ['q', policy.limit],
    ['qu', policy.unit === 'requests' ? undefined : policy.unit],
    ['w', wholeWindow(policy.windowSeconds)],
    ['pk', policy.partitionKey],
  ])
}
