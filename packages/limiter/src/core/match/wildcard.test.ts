import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wildcard } from './wildcard.ts'

describe('a pattern', () => {
  it.each([
    ['foo*', ['foo', 'foo1'], ['bar', 'xfoo', 'FOO1']],
    ['foo', ['foo'], ['foo1', 'fo']],
    ['bar*b', ['barab', 'bar123b', 'barb'], ['bara', 'xbarb', 'bar']],
    ['foo*bar*baz', ['foobarbaz', 'foo1bar2baz'], ['foobaz', 'foobazbar', 'foobarba']],
    ['/api*v1', ['/api/v1', '/apiv1'], ['/api/v2']],
    ['svc*ep*rpc', ['svcAepBrpc'], ['svcABCrpc']],
    ['a*a', ['aa', 'aba'], ['a']],
    ['*', ['', 'x'], []],
    ['**', ['', 'x'], []],
    ['a.c*', ['a.cd'], ['abcd']],
  ])('%s', (pattern, fitting, others) => {
    const matches = wildcard(pattern)
    expect(fitting.filter((text) => !matches(text))).toEqual([])
    expect(others.filter(matches)).toEqual([])
  })

  it('means what the same regular expression means', () => {
    const texts = fc.stringMatching(/^[ab*]{0,12}$/)
    fc.assert(
      fc.property(texts, texts, (pattern, text) => {
        expect(wildcard(pattern)(text)).toBe(new RegExp(`^${pattern.replaceAll('*', '[^]*')}$`).test(text))
      }),
      { numRuns: 3_000 },
    )
  })
})
