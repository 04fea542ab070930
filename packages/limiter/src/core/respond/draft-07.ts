import type { DialectReader, DialectWriter } from './dialect.ts'
import { expiringOf, policyField } from './expiring.ts'
import { quotasAt, readExpiring } from './expiring-reader.ts'
import { textAt } from './header-text.ts'
import { millisecondsOf } from './seconds.ts'
import { readDictionary, wholeOf } from './structured-field-reader.ts'

/**
 * draft-ietf-httpapi-ratelimit-headers-07: the figures in one Dictionary.
 *
 *     RateLimit-Policy: 100;w=60
 *     RateLimit: limit=100, remaining=50, reset=30
 */
export const draft07: DialectWriter = {
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

/** Draft 07; and the quotas of drafts 04 to 06, which have the same field for them. */
export const readDraft07: DialectReader = (headers) => {
  const members = readDictionary(textAt(headers, 'RateLimit') ?? '')
  const figure = (key: string): number | undefined => wholeOf(members?.get(key)?.value)
  const reset = figure('reset')
  return readExpiring(
    {
      limit: figure('limit'),
      remaining: figure('remaining'),
      resetAfterMs: reset === undefined ? undefined : millisecondsOf(reset),
    },
    quotasAt(headers, 'RateLimit-Policy'),
  )
}
