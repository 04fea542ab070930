import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalPath } from './path.ts'

describe('the one spelling of a path', () => {
  it('FB-064: has neither case nor a trailing slash', () => {
    expect(new Set(['/lang', '/LANG', '/lang/'].map((path) => normalPath(path)))).toEqual(new Set(['/lang']))
  })

  it.each([
    ['', '/'],
    ['/', '/'],
    ['//', '/'],
    ['/a//b///', '/a/b'],
    ['/a/./b/.', '/a/b'],
    ['/a/../b', '/b'],
    ['/../../b/..', '/'],
    ['/%2e%2E/a/%2e/b', '/a/b'],
    ['/%6Cogin', '/login'],
    ['/l%4Fgin', '/login'],
    ['/a%40b.example', '/a@b.example'],
    ['/a%2Fb', '/a%2fb'],
    ['/a%2fb', '/a%2fb'],
    ['/a%252Fb', '/a%252fb'],
    ['/a%20b', '/a%20b'],
    ['/a%3Fb%23c', '/a%3fb%23c'],
    ['/a%', '/a%25'],
    ['/a%4', '/a%254'],
    ['/%%36%31', '/%2561'],
    ['/caf%C3%A9', '/café'],
    ['/CAF%c3%89', '/café'],
    ['/%C3%28', '/%c3('],
    ['/%C0%AE%C0%AE/a', '/%c0%ae%c0%ae/a'],
    ['/%00/a', '/%00/a'],
    ['/a?b=/../c', '/a'],
    ['/a#b', '/a'],
    ['a/b', '/a/b'],
    ['/.well-known/x', '/.well-known/x'],
    ['/...', '/...'],
    ['/a.b/..c', '/a.b/..c'],
  ])('of %j is %j', (path, normal) => {
    expect(normalPath(path)).toBe(normal)
  })

  it('keeps case where case tells routes apart', () => {
    expect(normalPath('/Users//%41b%2f', false)).toBe('/Users/Ab%2F')
  })

  it('is a spelling of itself', () => {
    const bits = fc.constantFrom(
      '/',
      '.',
      '%',
      '2',
      'F',
      'e',
      'E',
      'a',
      'C',
      '3',
      'A',
      '9',
      'é',
      '?',
      '~',
      '\ud800',
    )
    const paths = fc.oneof(
      fc.string(),
      fc.array(bits, { maxLength: 20 }).map((chars) => `/${chars.join('')}`),
    )
    fc.assert(
      fc.property(paths, fc.boolean(), (path, fold) => {
        const normal = normalPath(path, fold)
        expect(normalPath(normal, fold)).toBe(normal)
        expect(normal).toMatch(/^\/(?!.*\/\/)/s)
      }),
      { numRuns: 2_000 },
    )
  })
})
