import { dialectSuite } from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../errors.ts'
import { exposedHeaders } from './chosen-dialects.ts'
import type { Header, Report, ReportedPolicy } from './dialect.ts'
import type { DialectName } from './dialect-writers.ts'
import { workedLines } from './dialects.lines.ts'
import { dialects, dialectsOf } from './dialects.ts'
import { vectors } from './dialects.vectors.ts'
import { retryAfter, retrySeconds } from './retry-after.ts'

const lines = (headers: readonly Header[]): string =>
  headers.map(([name, value]) => `${name}: ${value}`).join(' · ')
const say = (dialect: DialectName, report: Report): string => lines(dialects[dialect]().headers(report))

for (const make of Object.values(dialects)) dialectSuite({ describe, it }, make)

describe.each(Object.entries(workedLines))('%s', (name, worked) => {
  it('has its lines for every vector', () => {
    expect(Object.keys(worked)).toEqual(Object.keys(vectors))
  })

  it.each(Object.entries(vectors))('%s: $meaning', (id, { report }) => {
    expect(say(name as DialectName, report)).toBe(worked[id])
  })
})

describe.each(Object.entries(vectors))('%s: $meaning', (_id, { report, retryAfter: expected }) => {
  it('has its Retry-After', () => {
    const { retryAfterMs } = report.policies[0]!
    const seconds = report.allowed ? undefined : retrySeconds(retryAfterMs)
    expect(seconds && retryAfter(seconds, 'seconds', report.nowMs)).toBe(expected)
  })
})

const policy = (rest: Partial<ReportedPolicy>): ReportedPolicy => ({
  policy: 'minute',
  allowed: true,
  limit: 60,
  remaining: 56,
  retryAfterMs: 0,
  moreAfterMs: 12_000,
  resetAfterMs: 12_000,
  windowSeconds: 60,
  unit: 'requests',
  ...rest,
})
const report = (policies: ReportedPolicy[], rest: Partial<Report> = {}): Report => ({
  allowed: true,
  policies,
  cost: 1,
  nowMs: 1_700_000_000_250,
  ...rest,
})

describe('dialects with a reset in seconds since the epoch', () => {
  it('round it up', () => {
    expect(say('x-ratelimit-epoch', report([policy({})]))).toBe(
      'X-RateLimit-Limit: 60 · X-RateLimit-Remaining: 56 · X-RateLimit-Reset: 1700000013',
    )
  })

  it('as GitHub does, name the policy and what is used', () => {
    expect(say('github', report([policy({ policy: 'core' })]))).toBe(
      'X-RateLimit-Limit: 60 · X-RateLimit-Remaining: 56 · X-RateLimit-Reset: 1700000013 · X-RateLimit-Used: 4 · X-RateLimit-Resource: core',
    )
  })

  it('as GitHub does, never put into a header what breaks it', () => {
    expect(say('github', report([policy({ policy: 'a\r\nb: c', remaining: 99 })]))).toMatch(
      /X-RateLimit-Used: 0 · X-RateLimit-Resource: a\?\?b: c$/,
    )
  })
})

describe('dialects that report one policy', () => {
  const ONE = ['draft-03', 'draft-06', 'draft-07', 'x-ratelimit', 'x-ratelimit-epoch', 'github'] as const
  const spent = { policy: 'spend', limit: 1_000, remaining: 400, windowSeconds: 3_600 }
  const refusing = policy({
    ...spent,
    allowed: false,
    retryAfterMs: 3_000_000,
    moreAfterMs: 3_000_000,
    resetAfterMs: 3_000_000,
  })

  it('FB-049: report on a refusal the policy that refused, though another has less remaining', () => {
    const refused = report([policy({}), refusing], { allowed: false })
    expect(say('draft-07', refused)).toBe(
      'RateLimit-Policy: 60;w=60, 1000;w=3600 · RateLimit: limit=1000, remaining=400, reset=3000',
    )
  })

  it.each(ONE)('%s says nothing on a refusal by a policy without a window', (name) => {
    const held = policy({
      allowed: false,
      windowSeconds: undefined,
      unit: 'concurrent-requests',
      remaining: 0,
    })
    expect(say(name, report([policy({}), held], { allowed: false }))).toBe('')
  })

  it.each(ONE)('%s says nothing of a policy that never refills', (name) => {
    expect(say(name, report([policy({ resetAfterMs: null })]))).toBe('')
  })

  it('T62: send the reset of a full quota, which is 0', () => {
    expect(say('draft-06', report([policy({ remaining: 60, resetAfterMs: 0 })]))).toContain(
      'RateLimit-Reset: 0',
    )
  })
})

describe('a dialect that keeps what it said last', () => {
  it('notices what is new in the next response', () => {
    const { headers } = dialects.ietf()
    const ones = [
      [policy({})],
      [policy({ remaining: 1 })],
      [policy({ limit: 7 })],
      [policy({ policy: 'hour' })],
      [policy({ windowSeconds: 3_600 })],
      [policy({ unit: 'content-bytes' })],
      [policy({ partitionKey: Uint8Array.of(1) })],
      [policy({ partitionKey: Uint8Array.of(2) })],
      [policy({ policy: 'b' }), policy({})],
      [policy({})],
    ]
    for (const policies of ones) {
      expect(lines(headers(report(policies)))).toBe(say('ietf', report(policies)))
    }
  })
})

describe('the list of dialects', () => {
  it('knows each by its own name, and each sends all that it lists', () => {
    for (const [key, make] of Object.entries(dialects)) {
      const dialect = make()
      expect(dialect.name).toBe(key)
      const sent = dialect.headers({ ...report([policy({})]), retrySeconds: 5 }).map(([name]) => name)
      expect(sent.sort()).toEqual([...dialect.names].sort())
    }
  })

  it('refuses an unknown name, of the prototype too', () => {
    for (const name of ['draft-05', 'constructor', '__proto__']) {
      expect(() => dialectsOf(name as DialectName)).toThrow(ConfigError)
    }
  })

  it('refuses dialects that would send one header twice', () => {
    expect(() => dialectsOf(['ietf', 'draft-07'])).toThrow(
      'the dialects ietf and draft-07 both send RateLimit-Policy',
    )
    expect(() => dialectsOf(['github', 'github'])).toThrow(ConfigError)
  })

  it('tells which headers a browser must be allowed to read', () => {
    expect(exposedHeaders(dialectsOf(['ietf', 'x-ratelimit']))).toEqual([
      'Retry-After',
      'RateLimit-Policy',
      'RateLimit',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
    ])
  })
})
