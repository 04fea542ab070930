import { binding } from '../decide/combine.ts'
import type { DialectReader, DialectWriter, Header, QuotaUnit, Report, ReportedPolicy } from './dialect.ts'
import { readQuotas } from './quota-reader.ts'
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
export function ietf(): DialectWriter {
  return {
    name: 'ietf',
    names: IETF_FIELDS,
    headers: quotaFields(
      (policy) =>
        parameter(';r=', policy.remaining) +
        parameter(';t=', untilMore(policy)) +
        parameter(';pk=', policy.partitionKey),
    ),
  }
}

/** Of `ietf-next` too: drafts 08 to 11, and what comes after them. */
export const readIetf: DialectReader = (headers) => readQuotas(headers, IETF_FIELDS)

/** Characters of RateLimit-Policy: above it, proxies might refuse the answer. */
const MAX_FIELD = 4_096

export const IETF_FIELDS = ['RateLimit-Policy', 'RateLimit'] as const

/**
 * What is said of one policy in every response alike, with all that it was made of: a copy, since the report may be
 * changed once it is answered.
 */
interface PrintedQuota
  extends Pick<ReportedPolicy, 'policy' | 'limit' | 'windowSeconds' | 'unit' | 'partitionKey'> {
  readonly name: string
  readonly text: string
}

/**
 * Both fields; `limit` gives the parameters of the second. None without policies: an empty List is not sent. Quotas
 * are taken from the last response where they are the same: putting them together is half of the work. Where all would
 * be too long, the policy that decided stands alone.
 */
export function quotaFields(
  limit: (policy: ReportedPolicy, report: Report) => string,
): DialectWriter['headers'] {
  const last: PrintedQuota[] = []
  const quotaAt = (i: number, policy: ReportedPolicy): PrintedQuota => {
    const before = last[i]
    if (before !== undefined && isAlike(before, policy)) return before
    last[i] = printedQuotaOf(policy)
    return last[i]
  }
  const fieldsOf = (policies: readonly ReportedPolicy[], report: Report): Header[] => {
    if (policies.length === 0) return []
    const first = quotaAt(0, policies[0]!)
    let quotas = first.text
    let limits = first.name + limit(policies[0]!, report)
    for (let i = 1; i < policies.length; i++) {
      const quota = quotaAt(i, policies[i]!)
      quotas += `, ${quota.text}`
      limits += `, ${quota.name}${limit(policies[i]!, report)}`
    }
    return [
      [IETF_FIELDS[0], quotas],
      [IETF_FIELDS[1], limits],
    ]
  }
  return (report) => {
    const { policies, allowed } = report
    const fields = fieldsOf(policies, report)
    if (policies.length < 2 || fields[0]![1].length <= MAX_FIELD) return fields
    const bound = binding(policies, allowed)
    return fieldsOf(policies.slice(bound, bound + 1), report)
  }
}

function isAlike(a: PrintedQuota, b: ReportedPolicy): boolean {
  return (
    a.policy === b.policy &&
    a.limit === b.limit &&
    a.windowSeconds === b.windowSeconds &&
    a.unit === b.unit &&
    a.partitionKey === b.partitionKey
  )
}

function printedQuotaOf({ policy, limit, windowSeconds, unit, partitionKey }: ReportedPolicy): PrintedQuota {
  const name = string(policy)
  const text =
    name +
    parameter(';q=', limit) +
    parameter(';qu=', printedUnit(unit, windowSeconds)) +
    parameter(';w=', wholeWindow(windowSeconds)) +
    parameter(';pk=', partitionKey)
  return { policy, limit, windowSeconds, unit, partitionKey, name, text }
}

/** Seconds until more is available; undefined when the quota is full, or has no window. */
export function untilMore(policy: ReportedPolicy): number | undefined {
  return policy.moreAfterMs === null || policy.windowSeconds === undefined
    ? undefined
    : secondsUp(policy.moreAfterMs)
}

/** What is counted, unless that is requests. */
function printedUnit(unit: QuotaUnit | undefined, windowSeconds: number | undefined): QuotaUnit | undefined {
  if (unit === undefined && windowSeconds === undefined) return 'concurrent-requests'
  return unit === 'requests' ? undefined : unit
}
