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

it('tries one of thousands of patterns that begin differently', () => {
  const tried: string[] = []
  const find = patternIndex(Array.from({ length: 5_000 }, (_, i) => node('path', `/t${i}/*`, tried)))
  expect(find('path', '/t77/x')?.value).toBe('/t77/*')
  expect(find('other', '/t77/x')).toBeUndefined()
  expect(tried).toEqual(['path=/t77/*'])
})

it('finds what going through them in order would', () => {
  const patterns = fc.record({
    key: fc.stringMatching(/^[ab]{0,2}\*?$/),
    value: fc.option(fc.stringMatching(/^[ab]{0,2}\*[ab]?$/), { nil: undefined }),
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
