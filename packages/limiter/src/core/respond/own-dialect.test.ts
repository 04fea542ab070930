import { describe, expect, it } from 'vitest'
import { ConfigError } from '../errors.ts'
import { exposedHeaders } from './chosen-dialects.ts'
import type { Dialect } from './dialect.ts'
import type { Dialects } from './dialect-writers.ts'
import { dialectsOf } from './dialects.ts'
import { respondTo } from './respond.ts'
import { xRateLimit } from './x-ratelimit.ts'

const own = (rest: Partial<Dialect> = {}): Dialect => ({
  name: 'acme',
  names: ['Acme-Left'],
  headers: ({ policies }) => policies.map(({ remaining }) => ['Acme-Left', `${remaining}`]),
  read: () => undefined,
  ...rest,
})

const figures = {
  policy: 'hour',
  allowed: true,
  limit: 100,
  remaining: 40,
  retryAfterMs: 0,
  moreAfterMs: 1_500,
  resetAfterMs: 90_000,
  delayMs: 0,
  windowSeconds: 3_600,
}
const decision = { ...figures, policies: [figures], degraded: false }

describe('a dialect of one’s own', () => {
  it('stands wherever a name does, alone, among names and among others', () => {
    const names = (given: Dialects): string[] => dialectsOf(given).map(({ name }) => name)
    expect(names(own())).toEqual(['acme'])
    expect(names(['ietf', own()])).toEqual(['ietf', 'acme'])
    expect(names([own(), 'github', own({ name: 'b', names: ['B'] })])).toEqual(['acme', 'github', 'b'])
    expect(names([])).toEqual([])
  })

  it('goes out with the others, and is shown to browsers', () => {
    const dialect: Dialects = ['x-ratelimit', own()]
    expect(respondTo(decision, { nowMs: 0, dialect }).headers.map(([name]) => name)).toEqual([
      ...xRateLimit.names,
      'Acme-Left',
    ])
    expect(respondTo(decision, { nowMs: 0, dialect: own() }).headers).toEqual([['Acme-Left', '40']])
    expect(exposedHeaders(dialectsOf(own()))).toEqual(['Retry-After', 'Acme-Left'])
  })

  it('may be an object of a class', () => {
    class Acme implements Dialect {
      readonly name = 'acme'
      readonly names = ['Acme-Name'] as const
      headers(): [string, string][] {
        return [[this.names[0], this.name]]
      }
      read(): undefined {}
    }
    expect(respondTo(decision, { nowMs: 0, dialect: new Acme() }).headers).toEqual([['Acme-Name', 'acme']])
  })

  it('may give the same list each time: what else is sent does not gather in it', () => {
    const kept: [string, string][] = [['Acme-Left', '0']]
    const dialect = own({ headers: () => kept })
    const refused = { ...decision, allowed: false, priority: 'low' as const }
    for (let i = 0; i < 3; i++) {
      respondTo(refused, { nowMs: 0, dialect })
      respondTo({ ...refused, allowed: true }, { nowMs: 0, dialect })
    }
    expect(kept).toEqual([['Acme-Left', '0']])
  })

  it('is checked once: what dialectsOf gave is taken as it is, and does not follow the list it was given', () => {
    const list = [own()]
    const chosen = dialectsOf(list)
    list.push(own())
    expect(dialectsOf(chosen)).toBe(chosen)
    expect(chosen).toHaveLength(1)
  })

  it.each<[string, unknown, string]>([
    ['null', null, 'a dialect is a name or an object, not null'],
    ['a number', 7, 'a dialect is a name or an object, not number'],
    ['a list in a list', [['ietf']], 'a dialect needs a name'],
    ['an empty place', ['ietf', undefined], 'a dialect is a name or an object, not undefined'],
    ['no name', { ...own(), name: '' }, 'a dialect needs a name'],
    ['no headers', { ...own(), headers: undefined }, 'the dialect acme needs a function headers'],
    ['no read', { ...own(), read: 'ietf' }, 'the dialect acme needs a function read'],
    ['no names', { ...own(), names: undefined }, 'the dialect acme needs names'],
    ['text for names', { ...own(), names: 'Acme-Left' }, 'the dialect acme needs names'],
    ['an empty list of names', { ...own(), names: [] }, 'the dialect acme needs names'],
    [
      'a name that is none',
      { ...own(), names: ['Acme Left'] },
      'lists "Acme Left", which is no name of a header',
    ],
    ['a number for a name', { ...own(), names: [7n] }, 'lists "7", which is no name of a header'],
    ['a header listed twice', { ...own(), names: ['Acme', 'ACME'] }, 'the dialect acme lists ACME twice'],
    [
      'a header of ours',
      { ...own(), names: ['retry-after'] },
      'lists retry-after, which is sent without a dialect',
    ],
    [
      'two that send one header',
      [own(), own({ name: 'b', names: ['ACME-LEFT'] })],
      'the dialects acme and b both send ACME-LEFT',
    ],
    [
      'a header of a known dialect',
      ['ietf', own({ names: ['ratelimit'] })],
      'the dialects ietf and acme both send ratelimit',
    ],
  ])('is refused with %s', (_, given, message) => {
    const attempt = (): unknown => dialectsOf(given as Dialects)
    expect(attempt).toThrow(ConfigError)
    expect(attempt).toThrow(message)
  })
})
