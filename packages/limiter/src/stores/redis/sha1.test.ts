import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sha1 } from './sha1.ts'

it('agrees with Node', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
      expect(sha1(text)).toBe(createHash('sha1').update(text).digest('hex'))
    }),
  )
})

it.each([0, 55, 56, 63, 64, 65, 119, 120, 10_000])('agrees with Node at %i bytes', (length) => {
  const text = 'a'.repeat(length)
  expect(sha1(text)).toBe(createHash('sha1').update(text).digest('hex'))
})
