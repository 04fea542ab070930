import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { DescriptorNode } from './descriptor-tree.ts'
import { patternIndex } from './pattern-index.ts'
import { wildcard } from './wildcard.ts'

function node(key: string, value: string | undefined, tried: string[] = []): DescriptorNode {
  const [ownKey, ownValue] = [wildcard(key), wildcard(value ?? '*')]
  return {
    key,
    value,
    label: `${key}=${value}`,
    fits(someKey, someValue) {
      tried.push(`${key}=${value}`)
      return ownKey(someKey) && ownValue(someValue)
    },
    shared: false,
    valueToMetric: false,
    detailed: false,
    limit: undefined,
    children: { exact: new Map(), patterns: [], firstPattern: () => undefined, keys: new Map() },
  }
}

it.each([
  ['begin', (i: number) => `/t${i}/*`, '/t77/x'],
  ['end', (i: number) => `*-t${i}`, 'x-t77'],
  ['are within', (i: number) => `*-t${i}-*`, 'x-t77-y'],
])('tries one of thousands of patterns that %s differently', (_, value, text) => {
  const tried: string[] = []
  const find = patternIndex(Array.from({ length: 5_000 }, (_, i) => node('path', value(i), tried)))
  expect(find('path', text)?.value).toBe(value(77))
  expect(find('path', text.replace('77', '5000'))).toBeUndefined()
  expect(tried).toEqual([`path=${value(77)}`])
})

it('tries all of few patterns rather than cut a long text into many', () => {
  const find = patternIndex([node('path', '*a*'), node('path', '*bc*')])
  expect(find('path', `${'x'.repeat(10_000)}bc`)?.value).toBe('*bc*')
})

it('finds what going through them in order would', () => {
  const patterns = fc.record({
    key: fc.stringMatching(/^[ab]{0,2}\*?$/),
    value: fc.option(fc.stringMatching(/^[ab]{0,2}\*[ab]?\*?[ab]?$/), { nil: undefined }),
  })
  const text = fc.stringMatching(/^[ab*]{0,3}$/)
  fc.assert(
    fc.property(fc.array(patterns, { maxLength: 8 }), text, text, (list, key, value) => {
      const nodes = list.map((own) => node(own.key, own.value))
      expect(patternIndex(nodes)(key, value)).toBe(nodes.find((one) => one.fits!(key, value)))
    }),
    { numRuns: 3_000 },
  )
})
