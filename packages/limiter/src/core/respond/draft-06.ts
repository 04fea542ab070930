import type { DialectReader, DialectWriter } from './dialect.ts'
import { expiringOf, policyField } from './expiring.ts'
import { figuresAt, quotasAt, readExpiring } from './expiring-reader.ts'

/**
 * draft-ietf-httpapi-ratelimit-headers-04 to -06: four fields.
 *
 *     RateLimit-Policy: 100;w=60
 *     RateLimit-Limit: 100
 *     RateLimit-Remaining: 50
 *     RateLimit-Reset: 30
 */
export const draft06: DialectWriter = {
  name: 'draft-06',
  names: ['RateLimit-Policy', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  headers(report) {
    const expiring = expiringOf(report)
    if (expiring === undefined) return []
    return [
      ...policyField(report, expiring),
      ['RateLimit-Limit', `${expiring.limit}`],
      ['RateLimit-Remaining', `${expiring.remaining}`],
      ['RateLimit-Reset', `${expiring.reset}`],
    ]
  },
}

export const readDraft06: DialectReader = (headers) =>
  readExpiring(figuresAt(headers, 'RateLimit-'), quotasAt(headers, 'RateLimit-Policy'))
