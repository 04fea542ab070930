import { expect, it } from 'vitest'
import { compile } from './compile.ts'
import type { Descriptor, Domain, LimitOptions } from './domain.ts'
import { explainDescriptors, explainRequest } from './explain.ts'
import { limit } from './limit.samples.ts'

const options: LimitOptions = {
  algorithm: 'fixed-window',
  onLimit: 'deny',
  mode: 'enforce',
  onStoreError: 'open',
}

function descriptor(key: string, own: Partial<Descriptor> = {}): Descriptor {
  const flags = {
    shadowMode: false,
    quotaMode: false,
    detailedMetric: false,
    valueToMetric: false,
    shareThreshold: false,
  }
  return { key, ...flags, descriptors: [], ...own }
}

const daily = { ...options, unlimited: false, quota: { limit: 1, period: '1d' }, unit: 'day', replaces: [] }

const shop: Domain = {
  name: 'shop',
  limits: [
    limit({ name: 'login', when: { method: ['POST'], path: ['/login', '/signin'] } }),
    limit({ name: 'user', key: ['user'] }),
    limit({ name: 'office', exempt: ['10.0.0.0/8'] }),
    limit({ name: 'ip', key: ['ip'], replaces: ['everyone'] }),
    limit({ name: 'everyone' }),
    limit({ name: 'tokens', cost: 'header:x-tokens', when: { header: { 'x-tokens': ['many'] } } }),
  ],
  descriptors: [
    descriptor('key', { rateLimit: daily }),
    descriptor('list', { value: 'allowed' }),
    descriptor('free', { rateLimit: { ...options, unlimited: true, replaces: ['named'] } }),
    descriptor('named', { rateLimit: { ...daily, name: 'named' } }),
  ],
}

const rules = compile([shop])

it('says of every limit whether it applies, and if not, why', () => {
  const request = { method: 'GET', path: '/login', ip: '10.1.1.1' }
  expect(explainRequest(rules, 'shop', request)).toEqual([
    { rule: 'login', applies: false, reason: 'method is not POST' },
    { rule: 'user', applies: false, reason: 'the request lacks a part of its key' },
    { rule: 'office', applies: false, reason: 'the client is exempt' },
    { rule: 'ip', applies: true, reason: '', key: '10.1.1.1' },
    { rule: 'everyone', applies: false, reason: 'ip replaces it' },
    { rule: 'tokens', applies: false, reason: 'header x-tokens is not many' },
  ])
})

it('names the first condition that fails', () => {
  const [login] = explainRequest(rules, 'shop', { method: 'POST', path: '/logout' })
  expect(login!.reason).toBe('path is none of /login, /signin')
})

it('says what is wrong with a request', () => {
  const tokens = explainRequest(rules, 'shop', { headers: { 'x-tokens': 'many' } }).at(-1)!
  expect(tokens).toMatchObject({ applies: false, reason: expect.stringContaining('whole number') })
})

it('says of every descriptor how far it led', () => {
  const queries = [
    ['key', 'x'],
    ['list', 'allowed'],
    ['free', 'x'],
    ['named', 'x'],
    ['nil', 'x'],
  ].map(([key, value]) => ({
    entries: [{ key: key!, value: value! }],
  }))
  const deep = {
    entries: [
      { key: 'key', value: 'x' },
      { key: 'more', value: 'y' },
    ],
  }
  expect(explainDescriptors(rules, 'shop', [...queries, deep])).toEqual([
    { rule: 'shop.key', applies: true, reason: '', key: 'x' },
    { rule: 'shop.list_allowed', applies: false, reason: 'the rules there set no limit' },
    { rule: 'shop.free', applies: false, reason: 'it is unlimited' },
    { rule: 'shop.named', applies: false, reason: 'another limit replaces it' },
    { rule: 'shop', applies: false, reason: 'entry 1, nil_x, meets no rule' },
    { rule: 'shop.key', applies: false, reason: 'entry 2, more_y, meets no rule' },
  ])
})

it('says when there is nothing to explain by', () => {
  expect(explainRequest(rules, 'other', {})).toEqual([])
  expect(explainDescriptors(rules, 'other', [{ entries: [{ key: 'a', value: 'b' }] }])[0]).toMatchObject({
    applies: false,
    reason: 'no rules are loaded for the domain',
  })
})
