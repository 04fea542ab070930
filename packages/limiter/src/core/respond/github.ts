import type { DialectReader, DialectWriter } from './dialect.ts'
import { expiringOf } from './expiring.ts'
import { textAt } from './header-text.ts'
import { headerText } from './structured-field.ts'
import { HEADER_NAMES, readXRateLimitEpoch, xRateLimitEpoch } from './x-ratelimit.ts'

/**
 * GitHub's fields: `x-ratelimit-epoch`, with what is used, and the policy's name as the resource.
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
export const github: DialectWriter = {
  name: 'github',
  names: [...HEADER_NAMES, 'X-RateLimit-Used', 'X-RateLimit-Resource'],
  headers(report) {
    const expiring = expiringOf(report)
    if (expiring === undefined) return []
    return [
      ...xRateLimitEpoch.headers(report),
      ['X-RateLimit-Used', `${Math.max(0, expiring.limit - expiring.remaining)}`],
      ['X-RateLimit-Resource', headerText(expiring.policy.policy)],
    ]
  },
}

export const readGithub: DialectReader = (headers, nowMs) => {
  const report = readXRateLimitEpoch(headers, nowMs)
  const policy = textAt(headers, 'X-RateLimit-Resource')
  return report && { policies: [{ ...report.policies[0], policy }] }
}
