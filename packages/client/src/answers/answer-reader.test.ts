import { describe, expect, it } from 'vitest'
import type { AnswerLimits } from './answer-limits.ts'
import { type Answer, readAnswerLimits } from './answer-reader.ts'

/** Saturday, 29 August 2026, 12:00:00 UTC. */
const NOW = Date.UTC(2026, 7, 29, 12)
const EPOCH = NOW / 1_000

/** What an answer with these lines says. */
function said(lines: string, status = 200, now = NOW): AnswerLimits | undefined {
  const fields = lines
    .split('\n')
    .map(
      (line) =>
        line
          .trim()
          .split(/: (.*)/s)
          .slice(0, 2) as [string, string],
    )
    .filter(([name]) => name !== '')
  return readAnswerLimits({ status, headers: new Headers(fields) }, { now })
}

describe('dialects of services', () => {
  it.each<[string, string, object[]]>([
    [
      'GitHub',
      `x-ratelimit-limit: 5000
       x-ratelimit-remaining: 4987
       x-ratelimit-used: 13
       x-ratelimit-reset: ${EPOCH + 1_800}
       x-ratelimit-resource: core`,
      [{ name: 'core', limit: 5_000, remaining: 4_987, resetMs: 1_800_000 }],
    ],
    [
      'Discord',
      `X-RateLimit-Limit: 5
       X-RateLimit-Remaining: 0
       X-RateLimit-Reset: ${EPOCH + 3_600}.123
       X-RateLimit-Reset-After: 1.25
       X-RateLimit-Bucket: abcd1234`,
      [{ name: 'abcd1234', limit: 5, remaining: 0, resetMs: 1_250 }],
    ],
    [
      'OpenAI',
      `x-ratelimit-limit-requests: 60
       x-ratelimit-limit-tokens: 150000
       x-ratelimit-remaining-requests: 59
       x-ratelimit-remaining-tokens: 149984
       x-ratelimit-reset-requests: 1s
       x-ratelimit-reset-tokens: 6m0s`,
      [
        { name: 'requests', limit: 60, remaining: 59, resetMs: 1_000 },
        { name: 'tokens', limit: 150_000, remaining: 149_984, resetMs: 360_000 },
      ],
    ],
    [
      'Azure OpenAI, with -1 for what it does not know',
      `x-ratelimit-remaining-requests: -1
       x-ratelimit-remaining-tokens: 900
       x-ratelimit-reset-tokens: 20ms`,
      [{ name: 'tokens', remaining: 900, resetMs: 20 }],
    ],
    [
      'Anthropic',
      `anthropic-ratelimit-requests-limit: 50
       anthropic-ratelimit-requests-remaining: 49
       anthropic-ratelimit-requests-reset: 2026-08-29T12:00:59Z
       anthropic-ratelimit-input-tokens-limit: 40000
       anthropic-ratelimit-input-tokens-remaining: 39000
       anthropic-ratelimit-input-tokens-reset: 2026-08-29T14:00:01.500+02:00`,
      [
        { name: 'requests', limit: 50, remaining: 49, resetMs: 59_000 },
        { name: 'input-tokens', limit: 40_000, remaining: 39_000, resetMs: 1_500 },
      ],
    ],
    [
      'Cloudflare (draft 08)',
      `Ratelimit: "default";r=50;t=30
       Ratelimit-Policy: "burst";q=100;w=60`,
      [
        { name: 'burst', limit: 100, windowMs: 60_000, unit: 'requests' },
        { name: 'default', remaining: 50, moreMs: 30_000 },
      ],
    ],
    [
      'Envoy',
      `x-ratelimit-limit: 10, 10;w=1;name="per-ip", 1000;w=3600
       x-ratelimit-remaining: 9
       x-ratelimit-reset: 1`,
      [
        { name: '', limit: 10, remaining: 9, resetMs: 1_000, windowMs: 1_000 },
        { name: '', limit: 1_000, windowMs: 3_600_000 },
      ],
    ],
    [
      'GitLab',
      `RateLimit-Limit: 60
       RateLimit-Name: throttle_unauthenticated_web
       RateLimit-Observed: 67
       RateLimit-Remaining: 0
       RateLimit-Reset: ${EPOCH + 40}`,
      [{ name: 'throttle_unauthenticated_web', limit: 60, remaining: 0, resetMs: 40_000 }],
    ],
    [
      'X and Okta',
      `x-rate-limit-limit: 900
       x-rate-limit-remaining: 899
       x-rate-limit-reset: ${EPOCH + 900}
       x-app-limit-24hour-remaining: 17`,
      [
        { name: '', limit: 900, remaining: 899, resetMs: 900_000 },
        { name: 'app-24hour', remaining: 17 },
      ],
    ],
    [
      'Linear, with milliseconds since the epoch',
      `X-RateLimit-Requests-Limit: 1500
       X-RateLimit-Requests-Remaining: 1499
       X-RateLimit-Requests-Reset: ${NOW + 3_000}`,
      [{ name: 'requests', limit: 1_500, remaining: 1_499, resetMs: 3_000 }],
    ],
    ['Shopify', 'X-Shopify-Shop-Api-Call-Limit: 32/40', [{ name: '', limit: 40, remaining: 8 }]],
    [
      'HubSpot',
      `X-HubSpot-RateLimit-Max: 110
       X-HubSpot-RateLimit-Remaining: 109
       X-HubSpot-RateLimit-Interval-Milliseconds: 10000
       X-HubSpot-RateLimit-Daily: 250000
       X-HubSpot-RateLimit-Daily-Remaining: 249999`,
      [
        { name: '', limit: 110, remaining: 109, windowMs: 10_000 },
        { name: 'daily', limit: 250_000, remaining: 249_999 },
      ],
    ],
    [
      'Azure Resource Manager',
      'x-ms-ratelimit-remaining-subscription-reads: 11999',
      [{ name: 'subscription-reads', remaining: 11_999 }],
    ],
    [
      'Reddit, with fractions',
      `x-ratelimit-remaining: 598.9
       x-ratelimit-used: 2
       x-ratelimit-reset: 34`,
      [{ name: '', remaining: 598, resetMs: 34_000 }],
    ],
    [
      'Vimeo, with a date of ISO 8601',
      `X-RateLimit-Limit: 250
       X-RateLimit-Remaining: 0
       X-RateLimit-Reset: 2026-08-29T12:00:30+00:00`,
      [{ name: '', limit: 250, remaining: 0, resetMs: 30_000 }],
    ],
    [
      'a date as JavaScript prints it',
      `X-RateLimit-Remaining: 0
       X-RateLimit-Reset: Sat Aug 29 2026 14:00:30 GMT+0200 (Central European Summer Time)`,
      [{ name: '', remaining: 0, resetMs: 30_000 }],
    ],
    [
      'proxies one behind the other: the least is left, the last resets',
      `X-RateLimit-Limit: 100, 5
       X-RateLimit-Remaining: 90, 3
       X-RateLimit-Reset: 10, 60`,
      [{ name: '', limit: 5, remaining: 3, resetMs: 60_000 }],
    ],
  ])('%s', (_, lines, limits) => {
    expect(said(lines)).toEqual({ limits, refused: false })
  })

  it('may be one’s own', () => {
    const dialects = [{ read: () => ({ policies: [{ policy: 'own', remaining: 3 }] }) }]
    expect(readAnswerLimits({ status: 200, headers: {} }, { now: NOW, dialects })).toEqual({
      limits: [{ name: 'own', remaining: 3 }],
      refused: false,
    })
  })

  it('are read in the headers of Node, too', () => {
    const headers = { 'x-ratelimit-remaining': '7', 'set-cookie': ['a', 'b'] }
    expect(readAnswerLimits({ status: 200, headers }, { now: NOW })?.limits).toEqual([
      { name: '', remaining: 7 },
    ])
  })

  it('say nothing in an answer without them, and in one from a cache', () => {
    expect(said('content-type: text/html')).toBeUndefined()
    expect(said('x-ratelimit-remaining: 7\nage: 12')).toBeUndefined()
    expect(said('x-ratelimit-remaining: 7\nage: 0')).toBeDefined()
  })
})

describe('resets', () => {
  const reset = (text: string): number | undefined => said(`x-ratelimit-reset: ${text}`)?.limits[0]?.resetMs

  it.each<[string, number | undefined]>([
    ['0', 0],
    ['3600', 3_600_000],
    ['999999999', 999_999_999_000],
    [`${EPOCH + 5}`, 5_000],
    [`${EPOCH - 5}`, 0],
    [`${(NOW + 5) * 1_000}`, 5],
    [`${NOW + 4_096}000000`, 4_096],
    ['1h2m3.5s', 3_723_500],
    ['12ms', 12],
    ['250µs', 0.25],
    ['Sat, 29 Aug 2026 12:00:07 GMT', 7_000],
    ['2026-08-29T11:59:00Z', 0],
    ['2026-13-29T11:59:00Z', undefined],
    ['-5', undefined],
    ['NaN', undefined],
    ['1e99', undefined],
    ['soon', undefined],
    ['9'.repeat(300), Number.MAX_SAFE_INTEGER],
  ])('%s → %s ms', (text, ms) => {
    expect(reset(text)).toBe(ms)
  })
})

describe('clocks', () => {
  const hour = 3_600_000

  it('Acceptance 4.3: a date counts from the answer’s own Date', () => {
    const lines = `Date: Sat, 29 Aug 2026 12:00:00 GMT
      Retry-After: Sat, 29 Aug 2026 12:00:02 GMT`
    for (const now of [NOW, NOW + hour, NOW - hour]) expect(said(lines, 429, now)?.retryAfterMs).toBe(2_000)
  })

  it('a reset since the epoch counts from it where the clocks differ', () => {
    const lines = `Date: Sat, 29 Aug 2026 12:00:00 GMT
      x-ratelimit-reset: ${EPOCH + 10}`
    const wait = (now: number): number | undefined => said(lines, 200, now)?.limits[0]?.resetMs
    expect([wait(NOW + hour), wait(NOW - hour), wait(NOW - 1)]).toEqual([10_000, 10_000, 10_000])
    expect([wait(NOW), wait(NOW + 250), wait(NOW + 1_000), wait(NOW + 1_999)]).toEqual([
      10_000, 9_750, 9_000, 9_000,
    ])
  })
})

describe('the wait after a refusal', () => {
  const wait = (lines: string, status = 429): number | undefined => said(lines, status)?.retryAfterMs

  it('is what the server asks for, before all else', () => {
    expect(wait('Retry-After: 2')).toBe(2_000)
    expect(wait('Retry-After: 0')).toBe(0)
    expect(wait('Retry-After: 2.5')).toBe(2_500)
    expect(wait('retry-after-ms: 1500\nRetry-After: 2')).toBe(1_500)
    expect(wait('Retry-After: 7\nRateLimit: "a";r=0;t=3')).toBe(7_000)
    expect(wait(`X-RateLimit-Retry-After: ${EPOCH + 4}`)).toBe(4_000)
    expect(wait('Retry-After: 9', 503)).toBe(9_000)
  })

  it('is not what cannot be a wait', () => {
    for (const text of ['-5', 'NaN', '1e99', 'soon', '0x10', '31 Dec 1999'])
      expect(wait(`Retry-After: ${text}`)).toBeUndefined()
  })

  it('is else that of the limits that are used up', () => {
    expect(wait('RateLimit: "sec";r=0;t=1, "day";r=0;t=40, "month";r=9;t=999')).toBe(40_000)
    expect(wait('x-ratelimit-remaining: 0\nx-ratelimit-reset: 30')).toBe(30_000)
    expect(wait('x-ratelimit-remaining: 5\nx-ratelimit-reset: 30')).toBeUndefined()
  })

  it('is a minute for a secondary limit of GitHub without a hint', () => {
    const lines = 'x-github-request-id: A1\nx-ratelimit-remaining: 4000\nx-ratelimit-resource: core'
    expect(said(lines, 429)).toMatchObject({ refused: true, retryAfterMs: 60_000 })
    expect(said(`${lines}\nRetry-After: 30`, 403)).toMatchObject({ refused: true, retryAfterMs: 30_000 })
  })

  it('is none where the answer is no refusal', () => {
    expect(said('RateLimit: "a";r=0;t=30', 200)).not.toHaveProperty('retryAfterMs')
    expect(said('Retry-After: 30', 200)).toBeUndefined()
    expect(said('RateLimit: "a";r=0;t=30', 500)).toMatchObject({ refused: false })
  })
})

describe('a refusal', () => {
  const answers: readonly [Answer, boolean][] = [
    [{ status: 429, headers: {} }, true],
    [{ status: 403, headers: { 'retry-after': '60' } }, true],
    [{ status: 403, headers: { 'Retry-After': '60' } }, true],
    [{ status: 403, headers: { 'x-ratelimit-remaining': '0' } }, true],
    [{ status: 403, headers: { 'x-ratelimit-remaining': '8' } }, false],
    [{ status: 403, headers: {} }, false],
    [{ status: 420, headers: { 'x-envoy-ratelimited': 'true' } }, true],
    [{ status: 503, headers: { 'retry-after': '60' } }, false],
    [{ status: 200, headers: { 'x-ratelimit-remaining': '0' } }, false],
  ]
  it.each(answers)('is known by its status and by what it says: %j', (answer, refused) => {
    expect(readAnswerLimits(answer, { now: NOW })?.refused ?? false).toBe(refused)
  })
})
