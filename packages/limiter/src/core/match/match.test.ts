import { describe, expect, it } from 'vitest'
import { canRefuse } from '../decide/role.ts'
import { compile } from './compile.ts'
import { key, limit, match, names } from './limit.samples.ts'
import { matchRequest } from './match.ts'

describe('a request meets', () => {
  it('every limit whose conditions hold, in their order', () => {
    const limits = [
      { name: 'login', when: { method: ['POST'], path: ['/login'] } },
      { name: 'search', when: { path: ['/search/**'] } },
      { name: 'everyone' },
      { name: 'office', when: { ip: ['10.0.0.0/8', '::1'] } },
      { name: 'model', when: { header: { 'X-Model': ['large', 'huge'] }, query: { v: ['2'] } } },
      { name: 'host', when: { host: ['API.example.com', '*.test'] } },
    ]
    expect(names(limits, { method: 'post', path: '/Login/', ip: '::ffff:10.1.1.1' })).toEqual([
      'login',
      'everyone',
      'office',
    ])
    expect(names(limits, { method: 'GET', path: '/login', host: 'api.example.com.:443' })).toEqual([
      'everyone',
      'host',
    ])
    expect(names(limits, { headers: { 'x-model': 'huge' }, query: { v: '2' }, host: 'a.test' })).toEqual([
      'everyone',
      'model',
      'host',
    ])
    expect(names(limits, { headers: { 'x-model': 'HUGE' }, query: { v: '2' }, ip: '' })).toEqual(['everyone'])
  })

  it('a step with the rule’s plan, and the rule behind it', () => {
    const { steps } = match(
      [
        {
          key: ['user'],
          algorithm: 'token-bucket',
          limit: { limit: 10, period: '1s' },
          burst: 20,
          soft: 0.8,
          jitter: 0.3,
        },
      ],
      { attributes: { user: 'ann' } },
    )
    expect(steps).toMatchObject([{ key: 'ann', cost: 1, rule: { plan: { limit: 10, capacity: 20 } } }])
    expect(steps[0]!.rule).toEqual({
      name: 'a',
      namespace: 'shop/a',
      plan: steps[0]!.rule.plan,
      role: 'enforce',
      onLimit: 'deny',
      onStoreError: 'open',
      windowSeconds: 2,
      soft: 0.8,
      block: undefined,
      prefetch: undefined,
      jitter: 0.3,
      spread: 0,
    })
  })

  it('one plan and one rule, however many requests there are', () => {
    const rules = compile([{ name: 'shop', limits: [limit({}), limit({ name: 'b' })], descriptors: [] }])
    const [one, two] = [matchRequest(rules, 'shop', {}), matchRequest(rules, 'shop', {})]
    expect(one.steps[0]!.rule.plan).toBe(two.steps[0]!.rule.plan)
    expect(one.steps[0]!.rule.plan).toBe(one.steps[1]!.rule.plan)
    expect(one.steps[0]!.rule).toBe(two.steps[0]!.rule)
  })

  it('nothing in a domain that is not there', () => {
    expect(matchRequest(compile([]), 'shop', {}).problem).toContain('"shop"')
  })
})

describe('without a part of its key a rule', () => {
  const parts = { key: ['user', 'tenant'] }
  const request = { attributes: { tenant: 't', user: '' } }

  it('T60: does not apply, and is named', () => {
    expect(match([parts], request)).toEqual({ steps: [], missing: ['a'] })
  })

  it('may have one bucket for all who lack it, which nobody else gets into', () => {
    const { steps } = match([{ ...parts, onMissingKey: 'share' }], request)
    expect(steps).toMatchObject([{ key: '%-|t', rule: { plan: { capacity: 5 } } }])
    expect(key(parts.key, { attributes: { user: '%-', tenant: 't' } })).not.toBe(steps[0]!.key)
  })

  it('may refuse everyone', () => {
    const { steps } = match([{ ...parts, onMissingKey: 'deny' }], request)
    expect(steps).toMatchObject([{ rule: { name: 'a', role: 'enforce', plan: { capacity: 0 } } }])
  })
})

describe('a rule that replaces another', () => {
  const limits = [
    { name: 'a', replaces: ['b'] },
    { name: 'b', replaces: ['c'] },
    { name: 'c' },
    { name: 'd' },
  ]

  it('stands in for it when both apply, and what is replaced still replaces', () => {
    expect(names(limits, {})).toEqual(['a', 'd'])
  })

  it('does nothing where it does not apply itself', () => {
    const [first, ...rest] = limits
    expect(names([{ ...first, when: { path: ['/x'] } }, ...rest], {})).toEqual(['b', 'd'])
    expect(names([{ ...first, key: ['user'] }, ...rest], {})).toEqual(['b', 'd'])
    expect(names([{ ...first, exempt: ['::1'] }, ...rest], { ip: '::1', attributes: {} })).toEqual(['b', 'd'])
  })

  it('lifts no limit while it is in shadow', () => {
    expect(names([{ name: 'a', replaces: ['b'], mode: 'shadow' }, { name: 'b' }], {})).toEqual(['a', 'b'])
  })
})

describe('what a refusal means', () => {
  it('is nothing in shadow, nor when it only lowers the priority', () => {
    const { steps } = match([{ mode: 'shadow' }, { name: 'b', onLimit: 'deprioritize' }, { name: 'c' }], {})
    expect(steps.map(({ rule }) => rule.role)).toEqual(['shadow', 'deprioritize', 'enforce'])
    expect(steps.map(({ rule }) => canRefuse(rule.role))).toEqual([false, false, true])
  })

  it('is counted by the block of its own rule', () => {
    const block = { after: 10, within: 60_000, for: 900_000 }
    const { steps } = match([{ name: 'z' }, { key: ['ip'], block }, { name: 'c' }], {
      ip: '1.2.3.4',
    })
    expect(steps.map(({ rule }) => [rule.role, rule.block?.after])).toEqual([
      ['enforce', undefined],
      ['enforce', 10],
      ['enforce', undefined],
    ])
    expect(steps[1]).toMatchObject({
      rule: { namespace: 'shop/a', block: { after: 10, period: 900_000_000 } },
      key: '1.2.3.4',
    })
  })

  it('has no block in shadow, which would refuse', () => {
    const block = { after: 10, within: 60_000, for: 900_000 }
    expect(match([{ mode: 'shadow', block }], {}).steps).toMatchObject([{ rule: { block: undefined } }])
  })
})

it('FB-071: names of prototypes are names like any other', () => {
  expect(key(['user', 'method'], { method: '__proto__', attributes: { user: '__proto__' } })).toBe(
    '__proto__|__PROTO__',
  )
  expect(match([{ key: ['header:__proto__'] }], {}).missing).toEqual(['a'])
  expect(matchRequest(compile([]), '__proto__', {}).problem).toBeDefined()
})
