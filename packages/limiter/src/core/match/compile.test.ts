import { describe, expect, it } from 'vitest'
import { ConfigError } from '../errors.ts'
import { compile } from './compile.ts'
import type { Limit } from './domain.ts'
import { limit } from './limit.samples.ts'
import { matchRequest } from './match.ts'

function login(own: Partial<Limit>): Limit {
  return limit({ name: 'login', key: ['ip'], algorithm: 'token-bucket', ...own })
}

function compiled(...limits: Partial<Limit>[]): unknown {
  return compile([{ name: 'shop', limits: limits.map(login), descriptors: [] }])
}

describe('a mistake', () => {
  it('names the rule and its place', () => {
    const source = { file: 'shop.yaml', line: 12, column: 5 }
    expect(() => compiled({ onLimit: 'delay', source })).toThrow(
      'shop.yaml:12:5: limit "login": delay is not supported by token-bucket without soft, the share of the limit past which requests wait; leaky-bucket needs none',
    )
    expect(() => compiled({ limit: { limit: -1, period: '1m' } })).toThrow(
      /^limit "login": limit\.limit must be/,
    )
  })

  it.each<[string, Partial<Limit>]>([
    ['an empty name', { name: '' }],
    ['a name over 64 characters', { name: 'x'.repeat(65) }],
    ['a name that is not ASCII', { name: 'caf\u00e9' }],
    ['a name with a line feed', { name: 'a\nb' }],
    ['an unknown part', { key: ['usr'] }],
    ['a bad path', { when: { path: ['login'] } }],
    ['a bad network', { when: { ip: ['10.0.0.0/33'] } }],
    ['a condition without alternatives', { when: { method: [] } }],
    ['a header without alternatives', { when: { header: { 'x-a': [] } } }],
    ['a bad period', { limit: { limit: 1, period: 'sometimes' } }],
    ['a bad override', { overrides: [{ match: '::1', quota: { limit: 1.5, period: '1m' } }] }],
    [
      'a bad plan',
      {
        limit: { by: 'plan', plans: { a: { limit: 1, period: '' } }, otherwise: { limit: 1, period: '1m' } },
      },
    ],
    ['a burst on a window', { algorithm: 'fixed-window', burst: 7 }],
    ['a fractional cost', { cost: 0.5 }],
    ['a cost from nowhere', { cost: 'body:x' }],
    ['an exempt entry that could never fit', { exempt: ['10.0.0/8'] }],
    [
      'an override that could never fit',
      { overrides: [{ match: 'ann', quota: { limit: 1, period: '1m' } }] },
    ],
    ['an empty exempt entry', { key: ['user'], exempt: [''] }],
    ['a soft share above 1', { soft: 80 }],
    ['a jitter below 0', { jitter: -0.1 }],
    ['a block after nothing', { block: { after: 0, within: 1, for: 1 } }],
    [
      'a block by a rule that refuses nobody',
      { onLimit: 'deprioritize', block: { after: 1, within: 1, for: 1 } },
    ],
    [
      'a calendar that is spread',
      { algorithm: 'fixed-window', limit: { limit: 1, period: { calendar: 'day' } }, spread: true },
    ],
    ['a rule that replaces itself', { replaces: ['login'] }],
    ['a rule that replaces nothing', { replaces: ['logn'] }],
  ])('is %s', (_, own) => {
    expect(() => compiled(own)).toThrow(ConfigError)
    expect(() => compiled(own)).toThrow('limit "')
  })

  it('is a name that is taken, and a domain that is', () => {
    expect(() => compiled({}, {})).toThrow('limit "login": another limit of this domain has that name')
    expect(() => compile([1, 2].map(() => ({ name: 'shop', limits: [], descriptors: [] })))).toThrow(
      ConfigError,
    )
  })
})

describe('policies', () => {
  it('of different domains and names never share a counter', () => {
    const rules = compile([
      { name: 'a/b', limits: [limit({ name: 'c', key: [] })], descriptors: [] },
      { name: 'a', limits: [limit({ name: 'b/c', key: [] })], descriptors: [] },
    ])
    const policies = ['a/b', 'a'].map((domain) => matchRequest(rules, domain, {}).steps[0]!.rule.namespace)
    expect(policies).toEqual(['a%2Fb/c', 'a/b%2Fc'])
  })
})

it('paths keep their case where the application asks for it', () => {
  const domains = [
    { name: 'shop', limits: [limit({ key: ['path'], when: { path: ['/Users/*'] } })], descriptors: [] },
  ]
  const rules = compile(domains, { caseSensitivePaths: true })
  expect(matchRequest(rules, 'shop', { path: '/Users/Ann' }).steps[0]?.key).toBe('/Users/Ann')
  expect(matchRequest(rules, 'shop', { path: '/users/Ann' }).steps).toEqual([])
})
