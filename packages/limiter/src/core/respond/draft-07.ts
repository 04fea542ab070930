import type { Dialect } from './dialect.ts'
import { expiringOf, policyField } from './expiring.ts'

/**
 * draft-ietf-httpapi-ratelimit-headers-07: the figures in one Dictionary.
 *
 *     RateLimit-Policy: 100;w=60
 *     RateLimit: limit=100, remaining=50, reset=30
 */
export const draft07: Dialect = {
  name: 'draft-07',
  names: ['RateLimit-Policy', 'RateLimit'],
  headers(report) {
    const expiring = expiringOf(report)
    if (expiring === undefined) return []
    const { limit, remaining, reset } = expiring
    return [
      ...policyField(report, expiring),
      ['RateLimit', `limit=${limit}, remaining=${remaining}, reset=${reset}`],
    ]
  },
}
