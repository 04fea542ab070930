import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../errors.ts'
import { normalPath } from '../identify/path.ts'
import { fits, parseGlob } from './glob.ts'

function segmentsOf(path: string): string[] {
  return normalPath(path)
    .split('/')
    .filter((segment) => segment !== '')
}

function params(glob: string, path: string): Record<string, string> | undefined {
  const found = new Map<string, string>()
  return fits(parseGlob(glob), segmentsOf(path), found) ? Object.fromEntries(found) : undefined
}

describe('a path with gaps', () => {
  it.each([
    ['/', ['/', ''], ['/a']],
    ['/login', ['/login', '/LOGIN/', '//login', '/%6cogin'], ['/', '/login/x', '/logi']],
    ['/Login/', ['/login'], []],
    ['/search/**', ['/search', '/search/a', '/search/a/b'], ['/searching', '/']],
    ['/a/*', ['/a/b'], ['/a', '/a/b/c']],
    ['/a/*/c', ['/a/b/c'], ['/a/c', '/a/b/b/c']],
    ['/**/edit', ['/edit', '/a/b/edit'], ['/edit/a']],
    ['/a/**/b/**/c', ['/a/b/c', '/a/x/b/y/b/z/c', '/a/b/b/c/c'], ['/a/c/b', '/a/c']],
    ['/**/a/*/b', ['/a/a/x/b', '/a/x/b', '/a/y/a/x/b'], ['/a/b', '/a/x/y/b']],
    ['/**', ['/', '/a/b'], []],
    ['/v*/users', ['/v1/users', '/v/users'], ['/w1/users', '/v1']],
    ['/static/*.css', ['/static/a.css'], ['/static/a.js', '/static/a/b.css']],
    ['/a%2Fb', ['/a%2fb'], ['/a/b']],
    ['/café', ['/caf%C3%A9', '/CAFÉ'], ['/cafe']],
  ])('%s', (glob, fitting, others) => {
    expect(fitting.filter((path) => params(glob, path) === undefined)).toEqual([])
    expect(others.filter((path) => params(glob, path) !== undefined)).toEqual([])
  })

  it('tells what its parameters stand for', () => {
    expect(params('/users/:id/posts/:post', '/users/7/posts/9')).toEqual({ id: '7', post: '9' })
    expect(params('/**/of/:who', '/of/a/of/b')).toEqual({ who: 'b' })
  })

  it.each(['login', '', '*', '/a?b', '/a#b', '/:', '/:a b', '/:a/:a', '/a**', '/../a', '/./a'])(
    '%j is refused',
    (glob) => {
      expect(() => parseGlob(glob)).toThrow(ConfigError)
    },
  )

  it('means what the same regular expression means', () => {
    const globs = fc.array(fc.constantFrom('a', 'b', '*', '**', 'a*'), { maxLength: 6 })
    const paths = fc.array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 8 })
    const source = new Map([
      ['a', '/a'],
      ['b', '/b'],
      ['*', '/[^/]+'],
      ['**', '(?:/[^/]+)*'],
      ['a*', '/a[^/]*'],
    ])
    fc.assert(
      fc.property(globs, paths, (glob, path) => {
        const regular = new RegExp(`^${glob.map((segment) => source.get(segment)).join('')}$`)
        const text = path.map((segment) => `/${segment}`).join('')
        expect(fits(parseGlob(`/${glob.join('/')}`), path)).toBe(regular.test(text))
      }),
      { numRuns: 5_000 },
    )
  })

  it('takes no longer than the two are long, times each other', () => {
    const glob = parseGlob(`/${'**/a/'.repeat(30)}b`)
    const path = Array.from({ length: 3_000 }, () => 'a')
    let looks = 0
    const counted = new Proxy(path, {
      get(target, name) {
        looks++
        return Reflect.get(target, name)
      },
    })
    expect(fits(glob, counted)).toBe(false)
    expect(looks).toBeLessThan(10 * 61 * 3_000)
  })
})
