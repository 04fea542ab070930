import { describe, expect, it } from 'vitest'
import type { Request } from '../request.ts'
import { compile } from './compile.ts'
import { at, query, rateLimit, under } from './descriptor.samples.ts'
import { matchDescriptors } from './descriptors.ts'
import type { Descriptor, When } from './domain.ts'
import { limit } from './limit.samples.ts'
import { matchRequest } from './match.ts'

const FEW = 20
const MANY = 1_000

/** Looks into maps while `work` runs: what grows with the number of rules does not show in a clock of a busy machine. */
function lookups(work: () => void): number {
  const { get } = Map.prototype
  let count = 0
  Map.prototype.get = function (key: unknown): unknown {
    count += 1
    return get.call(this, key)
  }
  try {
    work()
  } finally {
    Map.prototype.get = get
  }
  return count
}

/** What finding the rule r3 of so many limits takes: lookups, and conditions that are tried. */
function workOf(count: number, whenOf: (i: number, count: number) => When, request: Request): number {
  const limits = Array.from({ length: count }, (_, i) => limit({ name: `r${i}`, when: whenOf(i, count) }))
  const rules = compile([{ name: 'd', limits, descriptors: [] }])
  let tried = 0
  for (const own of rules.domains.get('d')!.limits) {
    for (const condition of own.conditions) {
      const { holds } = condition
      condition.holds = (facts) => {
        tried += 1
        return holds(facts)
      }
    }
  }
  let names: string[] = []
  const found = lookups(() => {
    names = matchRequest(rules, 'd', request).steps.map(({ rule }) => rule.name)
  })
  expect(names).toContain('r3')
  return found + tried
}

/** Places of rule i in a grid: no one value tells it apart from all others. */
function grid(i: number, count: number, dimensions: number): number[] {
  const width = Math.ceil(count ** (1 / dimensions))
  return Array.from({ length: dimensions }, (_, d) => Math.floor(i / width ** d) % width)
}

describe('finding a limit among thousands takes no more than three times what it takes among a few', () => {
  it.each<[string, (i: number, count: number) => When, Request]>([
    ['path, prefix', (i) => ({ path: [`/api/s${i}/**`] }), { path: '/api/s3/x' }],
    ['path, parameters', (i) => ({ path: [`/:a/:b/s${i}/:c/x`] }), { path: '/1/2/s3/3/x' }],
    ['path, end', (i) => ({ path: [`/**/s${i}`] }), { path: '/a/b/s3' }],
    ['path, between gaps', (i) => ({ path: [`/**/s${i}/**`] }), { path: '/a/b/s3/c' }],
    ['path, before a gap', (i) => ({ path: [`/s${i}/**/end`] }), { path: '/s3/b/end' }],
    ['path, end of a segment', (i) => ({ path: [`/f/*-s${i}`] }), { path: '/f/a-s3' }],
    ['path, within a segment', (i) => ({ path: [`/f/a*-s${i}-*z`] }), { path: '/f/ab-s3-cz' }],
    ['host', (i) => ({ host: [`h${i}.example`] }), { host: 'h3.example' }],
    ['host, end', (i) => ({ host: [`*.h${i}.example`] }), { host: 'a.h3.example' }],
    ['host, within', (i) => ({ host: [`a.*.h${i}.*.example`] }), { host: 'a.b.h3.c.example' }],
    ['header', (i) => ({ header: { 'x-a': [`v${i}`] } }), { headers: { 'x-a': 'v3' } }],
    ['header, a list', (i) => ({ header: { 'x-a': [`v${i}`, `w${i}`] } }), { headers: { 'x-a': 'w3' } }],
    ['query', (i) => ({ query: { a: [`v${i}`] } }), { query: { a: 'v3' } }],
    [
      'methods and path',
      (i) => ({ method: ['GET', 'POST'], path: [`/s${i}`] }),
      { method: 'GET', path: '/s3' },
    ],
    [
      'networks of all lengths',
      (i) => ({ ip: [`2001:db8:0:${i.toString(16)}::/${64 + (i % 65)}`] }),
      { ip: '2001:db8:0:3::' },
    ],
    [
      'network, all under one path',
      (i) => ({ path: ['/v1/**'], ip: [`10.${i >> 8}.${i & 255}.0/24`] }),
      { path: '/v1/a', ip: '10.0.3.1' },
    ],
    [
      'host and path, neither its own',
      (i, count) => {
        const [a, b] = grid(i, count, 2)
        return { host: [`h${a}.example`], path: [`/api/p${b}/**`] }
      },
      { host: 'h3.example', path: '/api/p0/x' },
    ],
    [
      'patterns of host and path, neither its own',
      (i, count) => {
        const [a, b] = grid(i, count, 2)
        return { host: [`*.h${a}.example`], path: [`/**/p${b}`] }
      },
      { host: 'a.h3.example', path: '/x/p0' },
    ],
  ])('%s', (_, whenOf, request) => {
    const few = workOf(FEW, whenOf, request)
    expect(workOf(MANY, whenOf, request)).toBeLessThanOrEqual(3 * few)
  })
})

describe('so does finding a descriptor', () => {
  const one = rateLimit(5, 'minute')
  it.each<[string, (i: number) => Descriptor, readonly (readonly [string, string])[]]>([
    ['value', (i) => at(`k=v${i}`, one), [['k', 'v3']]],
    ['key', (i) => at(`k${i}`, one), [['k3', 'x']]],
    ['start of the value', (i) => at(`k=v${i}-*`, one), [['k', 'v3-x']]],
    ['end of the value', (i) => at(`k=*-v${i}`, one), [['k', 'x-v3']]],
    ['within the value', (i) => at(`k=*-v${i}-*`, one), [['k', 'x-v3-y']]],
    ['start of the key', (i) => at(`k${i}-*`, one), [['k3-x', 'y']]],
    [
      'below a pattern',
      (i) => under(`k=*-v${i}-*`, at('l=*', one)),
      [
        ['k', 'x-v3-y'],
        ['l', 'z'],
      ],
    ],
  ])('%s', (_, make, pairs) => {
    const work = (count: number): number => {
      const descriptors = Array.from({ length: count }, (_, i) => make(i))
      const rules = compile([{ name: 'd', limits: [], descriptors }])
      return lookups(() => {
        expect(matchDescriptors(rules, 'd', [query(pairs)]).steps).toHaveLength(1)
      })
    }
    expect(work(MANY)).toBeLessThanOrEqual(3 * work(FEW))
  })
})
