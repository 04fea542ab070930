import { describe, expect, it } from 'vitest'
import type { Decision, PolicyFigures } from '../decide/decision.ts'
import { respondTo } from './respond.ts'

const NOW = Date.UTC(2026, 0, 1)

const figures = (rest: Partial<PolicyFigures> = {}): PolicyFigures => ({
  policy: 'hour',
  allowed: true,
  limit: 100,
  remaining: 40,
  retryAfterMs: 0,
  moreAfterMs: 1_500,
  resetAfterMs: 90_000,
  delayMs: 0,
  windowSeconds: 3_600,
  ...rest,
})
const decision = (policies: PolicyFigures[], rest: Partial<Decision> = {}): Decision => ({
  ...(policies[0] ?? figures()),
  policies,
  degraded: false,
  ...rest,
})
const refusing = (rest: Partial<PolicyFigures> = {}): PolicyFigures =>
  figures({ allowed: false, remaining: 0, retryAfterMs: 1_500, ...rest })

describe('an admitted request', () => {
  it('carries the figures and nothing else', () => {
    expect(respondTo(decision([figures()]), { nowMs: NOW })).toEqual({
      status: 200,
      headers: [
        ['RateLimit-Policy', '"hour";q=100;w=3600'],
        ['RateLimit', '"hour";r=40;t=2'],
      ],
    })
  })

  it('carries no figures where they go out on refusals only', () => {
    expect(respondTo(decision([figures()]), { nowMs: NOW, when: 'denied' }).headers).toEqual([])
  })

  it('carries none where no policy applied', () => {
    const none = decision([], { limit: Number.POSITIVE_INFINITY, remaining: Number.POSITIVE_INFINITY })
    expect(respondTo(none, { nowMs: NOW }).headers).toEqual([])
  })

  it('OF-13: tells the next hop to serve it last, and the client of its figures', () => {
    const own = refusing({ deprioritizes: true })
    const low = decision([own], { allowed: true, priority: 'low' })
    expect(respondTo(low, { nowMs: NOW })).toEqual({
      status: 200,
      headers: [
        ['RateLimit-Policy', '"hour";q=100;w=3600'],
        ['RateLimit', '"hour";r=0;t=2'],
      ],
      upstreamHeaders: [['Sluice-Priority', 'low']],
    })
    expect(respondTo(decision([figures()]), { nowMs: NOW })).not.toHaveProperty('upstreamHeaders')
  })

  it('OF-13: does not show limits that only deprioritize where others can refuse', () => {
    const low = figures({ policy: 'low', allowed: false, remaining: 0, deprioritizes: true })
    const admitted = decision([low, figures()], { allowed: true, priority: 'low' })
    expect(respondTo(admitted, { nowMs: NOW }).headers[1]).toEqual(['RateLimit', '"hour";r=40;t=2'])
    const { headers, body } = respondTo(decision([low, refusing()]), { nowMs: NOW })
    expect(headers[0]).toEqual(['RateLimit-Policy', '"hour";q=100;w=3600'])
    expect(body?.['violated-policies']).toEqual(['hour'])
  })

  it('does not show shadow policies', () => {
    const shadow = figures({ policy: 'trial', remaining: 0, shadow: true })
    expect(respondTo(decision([shadow, figures()]), { nowMs: NOW, dialect: 'draft-07' }).headers).toEqual([
      ['RateLimit-Policy', '100;w=3600'],
      ['RateLimit', 'limit=100, remaining=40, reset=90'],
    ])
  })

  it('T62: does not advertise a quota that the store never saw', () => {
    const open = decision([figures({ remaining: 100, resetAfterMs: 0 })], { degraded: true })
    expect(respondTo(open, { nowMs: NOW })).toEqual({ status: 200, headers: [] })
  })
})

describe('a refusal', () => {
  it('is a 429 with a wait and a problem, and must not be stored', () => {
    const refused = decision([refusing(), figures({ policy: 'day', windowSeconds: 86_400 })])
    expect(respondTo(refused, { nowMs: NOW, dialect: [], problemInstance: '/refusals/7' })).toEqual({
      status: 429,
      reason: 'quota',
      headers: [
        ['Retry-After', '2'],
        ['Cache-Control', 'no-store'],
        ['Content-Type', 'application/problem+json'],
      ],
      body: {
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        title: 'Quota Exceeded',
        status: 429,
        detail: 'Try again in 2 seconds.',
        instance: '/refusals/7',
        'violated-policies': ['hour'],
      },
    })
  })

  it('T30: names no wait when none helps', () => {
    const { headers, body } = respondTo(decision([refusing({ retryAfterMs: null })]), { nowMs: NOW })
    expect(headers.map(([name]) => name)).not.toContain('Retry-After')
    expect(body?.detail).toBe('This request is over the limit, and waiting will not help.')
  })

  it('may give the wait as a date', () => {
    const { headers } = respondTo(decision([refusing()]), { nowMs: NOW, dialect: [], retryAfter: 'date' })
    expect(headers[0]).toEqual(['Retry-After', 'Thu, 01 Jan 2026 00:00:02 GMT'])
  })

  it('may lengthen the wait, the same for each key, in the header and in the problem', () => {
    const waits = ['a', 'b', 'c', 'd', 'e', 'a'].map((key) => {
      const refused = decision([refusing({ retryAfterMs: 1_000_000 })])
      const { headers, body } = respondTo(refused, {
        nowMs: NOW,
        dialect: [],
        jitter: { share: 0.3, key, seed: 1 },
      })
      expect(body?.detail).toBe(`Try again in ${headers[0]![1]} seconds.`)
      return Number(headers[0]![1])
    })
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000)
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_300)
    expect(new Set(waits).size).toBe(5)
    expect(waits[5]).toBe(waits[0])
  })

  it('without the store is a 503, with no figures of a quota', () => {
    const closed = decision([refusing()], { degraded: true })
    const { status, headers, body } = respondTo(closed, { nowMs: NOW })
    expect([status, body?.status, body?.title]).toEqual([503, 503, 'Temporary Reduced Capacity'])
    expect(headers.map(([name]) => name)).toEqual(['Retry-After', 'Cache-Control', 'Content-Type'])
    expect(respondTo({ ...closed, retryAfterMs: null }, { nowMs: NOW }).body?.detail).toBe('Try again later.')
  })

  it('by a block is abnormal usage', () => {
    const blocked = decision([refusing({ blocked: true })])
    expect(respondTo(blocked, { nowMs: NOW }).body).toMatchObject({
      title: 'Abnormal Usage Detected',
      status: 429,
    })
  })

  it('does not blame shadow policies', () => {
    const shadow = refusing({ policy: 'trial', shadow: true, retryAfterMs: null })
    const { headers, body } = respondTo(decision([refusing(), shadow]), { nowMs: NOW })
    expect(body?.['violated-policies']).toEqual(['hour'])
    expect(headers).toContainEqual(['RateLimit', '"hour";r=0;t=2'])
  })

  it('FB-049: may report the refusing policy alone', () => {
    const passed = figures({ policy: 'minute', limit: 60, remaining: 0, windowSeconds: 60 })
    const refused = decision([passed, refusing()], { ...refusing(), allowed: false })
    expect(respondTo(refused, { nowMs: NOW, policies: 'binding' }).headers).toContainEqual([
      'RateLimit',
      '"hour";r=0;t=2',
    ])
  })
})

describe('figures', () => {
  it('carry the unit, the partition and the cost that the caller knows of', () => {
    const leases = figures({ policy: 'held', limit: 9, remaining: 8 })
    const { windowSeconds: _, ...held } = leases
    const { headers } = respondTo(decision([figures(), held]), {
      nowMs: NOW,
      dialect: 'ietf-next',
      cost: 3,
      unit: (policy) => (policy === 'hour' ? 'content-bytes' : undefined),
      partitionKey: (policy) => (policy === 'hour' ? Uint8Array.of(1, 2) : undefined),
    })
    expect(headers).toEqual([
      [
        'RateLimit-Policy',
        '"hour";q=100;qu="content-bytes";w=3600;pk=:AQI=:, "held";q=9;qu="concurrent-requests"',
      ],
      ['RateLimit', '"hour";a=40;w=2;pk=:AQI=:;c=3, "held";a=8;c=3'],
    ])
  })
})
