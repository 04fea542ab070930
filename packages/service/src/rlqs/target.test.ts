import { compile } from '@sluice/limiter/rules'
import { loadText } from '@sluice/rulebook'
import { describe, expect, it } from 'vitest'
import { bucketName } from './bucket-id.ts'
import { type FindTarget, targetsOf } from './target.ts'

const find: FindTarget = targetsOf(
  compile(
    loadText(`
domain: edge
limits:
  - { name: all, key: [], limit: 100/second, assign: rlqs }
  - name: by user
    key: [user]
    limit: 10/second
    assign: rlqs
    exempt: [root]
    overrides: [{ match: big, limit: 50/second }]
  - { name: by address, key: [ip, "header:x-model"], limit: 5/second, on_missing_key: deny, assign: rlqs }
  - { name: by plan, key: [tenant], assign: rlqs, limit: { by: plan, pro: 100/second, otherwise: 10/second } }
  - { name: closed, key: [], limit: 0/day, assign: rlqs }
  - { name: own, key: [], limit: 1/second }
descriptors:
  - key: service
    value: search
    descriptors:
      - key: user
        rate_limit: { unit: second, requests_per_unit: 20, algorithm: token-bucket, assign: rlqs }
  - key: path
    value: "/api/*"
    share_threshold: true
    rate_limit: { unit: second, requests_per_unit: 30, algorithm: token-bucket, assign: rlqs, name: api }
  - key: user
    rate_limit: { unit: second, requests_per_unit: 7 }
`),
  ),
  1,
)

describe('a bucket', () => {
  it.each<[Record<string, string>, string, unknown]>([
    [{ limit: 'all' }, 'all', { tokens: 1_000, seconds: 10, burst: 100 }],
    [{ limit: 'by user', user: 'ada' }, 'by user', { tokens: 1_000, seconds: 100, burst: 10 }],
    [{ limit: 'by user', user: 'big' }, 'by user', { tokens: 1_000, seconds: 20, burst: 50 }],
    [{ limit: 'by user', user: 'root' }, 'by user', 'ALLOW_ALL'],
    [{ limit: 'by user' }, 'by user', 'ALLOW_ALL'],
    [
      { limit: 'by address', ip: '192.0.2.1', 'header:X-Model': 'm' },
      'by address',
      { tokens: 1_000, seconds: 200, burst: 5 },
    ],
    [{ limit: 'by address', ip: '192.0.2.1' }, 'by address', 'DENY_ALL'],
    [{ limit: 'by plan', tenant: 'a', plan: 'pro' }, 'by plan', { tokens: 1_000, seconds: 10, burst: 100 }],
    [{ limit: 'by plan', tenant: 'a' }, 'by plan', { tokens: 1_000, seconds: 100, burst: 10 }],
    [{ limit: 'closed' }, 'closed', 'DENY_ALL'],
    [{ user: 'ada', service: 'search' }, 'service_search.user', { tokens: 1_000, seconds: 50, burst: 20 }],
    [{ path: '/api/x' }, 'api', { tokens: 1_020, seconds: 34, burst: 30 }],
  ])('%j is held to %s', (bucket, policy, quota) => {
    expect(find('edge', bucket)).toMatchObject({ domain: 'edge', policy, quota })
  })

  it.each<[string, Record<string, string>]>([
    ['other', { limit: 'all' }],
    ['edge', { limit: 'own' }],
    ['edge', { limit: 'al' }],
    ['edge', { limit: 'by address', ip: '192.0.2.999', 'header:x-model': 'm' }],
    ['edge', { user: 'ada' }],
    ['edge', { service: 'search', user: 'ada', zone: 'a' }],
    ['edge', { service: 'find', user: 'ada' }],
    ['edge', { __proto__: 'x', constructor: 'y' }],
  ])('of %s, %j, has no assigned limit', (domain, bucket) => {
    expect(find(domain, bucket)).toBeUndefined()
  })

  it('shares its counter with those of the same key, whatever else their ids hold', () => {
    const counter = (bucket: Record<string, string>) => find('edge', bucket)!.counter
    const ada = counter({ limit: 'by user', user: 'ada' })
    expect(counter({ limit: 'by user', user: 'ada', zone: 'a' })).toBe(ada)
    expect(counter({ limit: 'by user', user: 'bob' })).not.toBe(ada)
    expect(counter({ path: '/api/x' })).toBe(counter({ path: '/api/y' }))
    expect(counter({ limit: 'by plan', tenant: 'a' })).not.toBe(
      counter({ limit: 'by plan', tenant: 'a', plan: 'pro' }),
    )
  })

  it('that lacks a part of its key is told apart from one that is exempt', () => {
    expect(find('edge', { limit: 'by user' })!.missing).toBe(true)
    expect(find('edge', { limit: 'by user', user: 'root' })!.missing).toBeUndefined()
  })
})

describe('the name of a bucket', () => {
  it('does not depend on the order of its entries', () => {
    expect(bucketName({ a: '1', b: '2' })).toBe(bucketName({ b: '2', a: '1' }))
    expect(bucketName({ a: 'b', c: 'd' })).not.toBe(bucketName({ a: 'b","c":"d' }))
  })

  it.each<[string, Record<string, string>]>([
    ['is empty', {}],
    ['has too many entries', Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v']))],
    ['is too long', { user: 'x'.repeat(1_021) }],
  ])('is none where the id %s', (_, id) => {
    expect(bucketName(id)).toBeUndefined()
  })
})
