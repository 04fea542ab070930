import type { DialectReader, DialectWriter, Header, Report } from './dialect.ts'
import { type Expiring, expiringOf } from './expiring.ts'
import { figuresAt, readExpiring } from './expiring-reader.ts'
import { epochSeconds } from './seconds.ts'

export const HEADER_NAMES = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const

/** The unregistered names of old, with the reset in seconds from now: `X-RateLimit-Reset: 30`. */
export const xRateLimit: DialectWriter = {
  name: 'x-ratelimit',
  names: HEADER_NAMES,
  headers: (report) => headerFields(report, (expiring) => expiring.reset),
}

/** Of `x-ratelimit:retry-after` too. */
export const readXRateLimit: DialectReader = (headers) => readExpiring(figuresAt(headers, 'X-RateLimit-'))

const RETRY_AFTER = 'X-RateLimit-Retry-After'

/** The same, with `X-RateLimit-Retry-After` on refusals: what Retry-After says, in seconds. */
export const xRateLimitRetryAfter: DialectWriter = {
  name: 'x-ratelimit:retry-after',
  names: [...HEADER_NAMES, RETRY_AFTER],
  headers(report) {
    const fields = xRateLimit.headers(report)
    if (fields.length > 0 && report.retrySeconds !== undefined)
      fields.push([RETRY_AFTER, `${report.retrySeconds}`])
    return fields
  },
}

/** The same names, with the reset in seconds since the epoch: `X-RateLimit-Reset: 1700000030`. */
export const xRateLimitEpoch: DialectWriter = {
  name: 'x-ratelimit-epoch',
  names: HEADER_NAMES,
  headers: (report) => headerFields(report, (expiring) => epochSeconds(report.nowMs, expiring.resetAfterMs)),
}

export const readXRateLimitEpoch: DialectReader = (headers, nowMs) =>
  readExpiring(figuresAt(headers, 'X-RateLimit-', nowMs))

function headerFields(report: Report, reset: (expiring: Expiring) => number): Header[] {
  const expiring = expiringOf(report)
  if (expiring === undefined) return []
  return [
    [HEADER_NAMES[0], `${expiring.limit}`],
    [HEADER_NAMES[1], `${expiring.remaining}`],
    [HEADER_NAMES[2], `${reset(expiring)}`],
  ]
}
