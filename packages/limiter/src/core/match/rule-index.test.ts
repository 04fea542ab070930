import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Facts } from '../identify/facts.ts'
import type { Request } from '../request.ts'
import { type Condition, conditionsOf, globsOf } from './condition.ts'
import type { When } from './domain.ts'
import { atOnce } from './pieces.ts'
import { candidates, indexRules } from './rule-index.ts'

function conditions(when: When): readonly Condition[] {
  return conditionsOf(when, globsOf(when, true))
}

function visited(rules: readonly When[], request: Request): readonly number[] {
  return candidates(atOnce(indexRules(rules.map(conditions))), new Facts(request, true))
}

/** So many rules of each kind, that differ in one thing. */
function crowd(count: number): When[] {
  return Array.from({ length: count }, (_, i): When => {
    const kinds: When[] = [
      { method: ['GET'], path: [`/v1/things/t${i}`] },
      { path: [`/v1/users/:id/t${i}/**`] },
      { path: ['/v1/**'], header: { 'x-tenant': [`t${i}`] } },
      { path: ['/v1/**'], query: { tenant: [`t${i}`] } },
      { host: [`t${i}.example.com`], path: ['/**'] },
      { ip: [`10.${i >> 8}.${i & 255}.0/24`] },
      { method: ['GET', 'POST'], path: [`/v1/either/t${i}`, `/v1/or/t${i}`] },
      { path: [`/v1/**/t${i}`], header: { 'x-tenant': [`t${i}`, `u${i}`] } },
    ]
    return kinds[i % kinds.length]!
  })
}

/** The same for gaps at the front and within. */
function wildcards(count: number): When[] {
  return Array.from({ length: count }, (_, i): When => {
    const kinds: When[] = [
      { host: [`*.w${i}.example.com`] },
      { host: [`w${i}.*.example.com`, `*-w${i}-*`] },
      { path: [`/**/t${i}`] },
      { path: [`/**/t${i}/**/end`] },
      { path: [`/v2/t${i}-*`, `/v2/*-t${i}`] },
      { path: [`/v2/*-t${i}-*/**`] },
    ]
    return kinds[i % kinds.length]!
  })
}

describe('the index of rules', () => {
  const request: Request = {
    method: 'GET',
    path: '/v1/things/t8',
    host: 't12.example.com',
    ip: '10.0.13.7',
    headers: { 'x-tenant': 't10' },
    query: { tenant: 't11' },
  }

  it('looks at no more of 5,000 rules than of 50', () => {
    const few = visited(crowd(50), request)
    expect(few).toEqual([8, 10, 11, 12, 13])
    expect(visited(crowd(5_000), request)).toEqual(few)
  })

  it.each([
    [6, { host: 'a.w6.example.com' }],
    [7, { host: 'w7.a.example.com' }],
    [7, { host: 'a-w7-b' }],
    [8, { path: '/a/b/t8' }],
    [9, { path: '/a/t9/b/end' }],
    [10, { path: '/v2/t10-a' }],
    [10, { path: '/v2/a-t10' }],
    [11, { path: '/v2/a-t11-b/c' }],
  ])('finds rule %i of 5,400 by its wildcard', (rule, request) => {
    expect(visited(wildcards(5_400), request)).toEqual([rule])
  })

  it('files a rule under what it shares with the fewest', () => {
    const rules: When[] = Array.from({ length: 1_000 }, (_, i) => ({
      method: ['POST'],
      host: ['api.example.com'],
      path: ['/v1/chat'],
      header: { 'x-model': ['large'], 'x-tenant': [`t${i}`] },
    }))
    const chat = { method: 'POST', path: '/v1/chat', host: 'api.example.com' }
    expect(visited(rules, { ...chat, headers: { 'x-model': 'large', 'x-tenant': 't7' } })).toEqual([7])
    expect(visited(rules, { ...chat, headers: { 'x-model': 'large' } })).toEqual([])
  })

  it('looks at one of thousands that only two conditions together tell apart', () => {
    const rules: When[] = Array.from({ length: 2_500 }, (_, i) => ({
      host: [`h${i % 50}.example.com`],
      path: [`/api/p${Math.floor(i / 50)}/**`],
    }))
    expect(visited(rules, { host: 'h7.example.com', path: '/api/p3/x' })).toEqual([157])
    expect(visited(rules, { host: 'h7.example.com', path: '/api/p50/x' })).toEqual([])
  })

  it('gives every rule once, in order, those without conditions too', () => {
    const rules: When[] = [
      {},
      { path: ['/a/**', '/a/*'] },
      { path: ['/**'] },
      { path: ['/a/:b'] },
      { host: ['*.example.com'] },
    ]
    expect(visited(rules, { path: '/a/b', host: 'www.example.com' })).toEqual([0, 1, 2, 3, 4])
  })

  it('tells a name with an = in it from a value', () => {
    const rules: When[] = Array.from({ length: 40 }, (_, i) => ({
      query: i % 2 === 0 ? { a: ['b=c'] } : { 'a=b': ['c'] },
    }))
    const odd = rules.flatMap((_, i) => (i % 2 === 0 ? [] : [i]))
    expect(visited(rules, { query: { 'a=b': 'c' } })).toEqual(odd)
  })

  it('never misses a rule', () => {
    const some = <T>(values: readonly T[]): fc.Arbitrary<readonly T[] | undefined> =>
      fc.option(fc.subarray([...values], { minLength: 1 }), { nil: undefined })
    const whens = fc
      .record({
        method: some(['GET', 'post']),
        path: some([
          '/',
          '/a',
          '/a/*',
          '/a/:b/c',
          '/**',
          '/a/**',
          '/**/c',
          '/a/b*',
          '/**/*b/**',
          '/*a*',
          '/a*/**/c',
        ]),
        host: some(['a.example', 'b.example', '*.example', 'a.*', '*.ex*', '*']),
        header: some(['1', '2']),
        ip: some(['10.0.0.0/8', '10.1.0.0/16', '::/0', '10.1.1.1']),
      })
      .map(({ header, ...rest }): When => {
        const own = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
        return header === undefined ? own : { ...own, header: { 'X-A': header } }
      })
    // Many share what there is to share, and are an index within the index.
    const lists = fc.oneof(
      fc.array(whens, { maxLength: 12 }),
      fc.array(whens, { minLength: 40, maxLength: 60 }),
    )
    const requests = fc.record({
      method: fc.constantFrom('GET', 'POST', 'PUT'),
      path: fc.constantFrom('/', '/a', '/A/', '/a/b', '/a/b/c', '/c', '/x/y'),
      host: fc.constantFrom('a.example', 'B.example:80', 'c.other'),
      headers: fc.constantFrom({}, { 'x-a': '1' }, { 'x-a': '3' }),
      ip: fc.constantFrom('10.1.1.1', '10.2.0.1', '::1', 'none'),
    })
    fc.assert(
      fc.property(lists, requests, (rules, request) => {
        const facts = new Facts(request, true)
        const compiled = rules.map(conditions)
        const holding = compiled.flatMap((own, i) => (own.every((one) => one.holds(facts)) ? [i] : []))
        const found = candidates(atOnce(indexRules(compiled)), facts)
        expect(found.filter((rule) => holding.includes(rule))).toEqual(holding)
      }),
      { numRuns: 400 },
    )
  })
})
