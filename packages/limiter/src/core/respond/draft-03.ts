import type { DialectReader, DialectWriter } from './dialect.ts'
import { expiringOf, quotaPolicies } from './expiring.ts'
import { figuresAt, quotasAt, readExpiring } from './expiring-reader.ts'

/**
 * draft-ietf-httpapi-ratelimit-headers-00 to -03: the policies stand inside RateLimit-Limit.
 *
 *     RateLimit-Limit: 100, 100;w=60
 *     RateLimit-Remaining: 50
 *     RateLimit-Reset: 30
 */
export const draft03: DialectWriter = {
  name: 'draft-03',
  names: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  headers(report) {
    const expiring = expiringOf(report)
    if (expiring === undefined) return []
    return [
      ['RateLimit-Limit', [expiring.limit, ...quotaPolicies(report, expiring)].join(', ')],
      ['RateLimit-Remaining', `${expiring.remaining}`],
      ['RateLimit-Reset', `${expiring.reset}`],
    ]
  },
}

export const readDraft03: DialectReader = (headers) =>
  readExpiring(figuresAt(headers, 'RateLimit-'), quotasAt(headers, 'RateLimit-Limit'))
