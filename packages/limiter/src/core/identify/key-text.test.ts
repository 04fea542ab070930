import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashedPart, joinParts, keyPart, MISSING } from './key-text.ts'
import { keyedHash } from './keyed-hash.ts'

const hash = keyedHash('secret')

function key(...values: string[]): string {
  return joinParts(values.map((value) => keyPart(value, hash)))
}

describe('a key of several parts', () => {
  it('FB-067 and T51: is not another key with its parts cut elsewhere', () => {
    expect(key('a:b', 'c')).not.toBe(key('a', 'b:c'))
    expect(key('user', '1a')).not.toBe(key('user1', 'a'))
    expect(key('a|b', 'c')).not.toBe(key('a', 'b|c'))
    expect(key('a', '')).not.toBe(key('', 'a'))
    expect(key('a%7Cb')).not.toBe(key('a|b'))
  })

  it('leaves plain values readable', () => {
    expect(key('203.0.113.7', 'ann@example.com')).toBe('203.0.113.7|ann@example.com')
    expect(key('2001:db8::/64', '/v1/chat')).toBe('2001:db8::/64|/v1/chat')
  })

  it('FB-070: takes control characters and whatever a store might mistake for syntax', () => {
    expect(key('a\n\0{b}*[?]\\ %\u0085')).toBe('a%0A%00%7Bb%7D%2A%5B%3F%5D%5C%20%25%85')
    expect(key('\ud83d')).toBe('%uD83D')
    expect(key('😀')).toBe('😀')
  })

  it('FB-070: is short, however long a value is', () => {
    expect(key('x'.repeat(128))).toBe('x'.repeat(128))
    expect(key('x'.repeat(129))).toMatch(/^%h[0-9a-f]{32}$/)
    expect(key('é'.repeat(65))).toMatch(/^%h[0-9a-f]{32}$/)
    expect(key('x'.repeat(10_000), 'y')).not.toBe(key('x'.repeat(10_001), 'y'))
  })

  it('has no value that reads as a missing or a hashed part', () => {
    expect(key('%-')).not.toBe(MISSING)
    expect(key(hashedPart('a', hash))).not.toBe(hashedPart('a', hash))
  })

  it('FB-071: takes names of prototypes like any other', () => {
    expect(new Set(['__proto__', 'constructor', 'toString'].map((name) => key(name))).size).toBe(3)
  })

  it('is another one for any other values, also once it is UTF-8', () => {
    const chars = fc.constantFrom(
      'a',
      '|',
      '%',
      ':',
      '7',
      'C',
      '-',
      'h',
      '\0',
      '\ud800',
      '\udc00',
      'é',
      'e\u0301',
      '😀',
    )
    const values = fc.array(
      fc.array(chars, { maxLength: 6 }).map((list) => list.join('')),
      { minLength: 1, maxLength: 3 },
    )
    fc.assert(
      fc.property(values, values, (a, b) => {
        fc.pre(a.length === b.length)
        const same = a.every((value, i) => value === b[i])
        expect(Buffer.from(key(...a)).equals(Buffer.from(key(...b)))).toBe(same)
      }),
      { numRuns: 5_000 },
    )
  })
})

it('a secret is only there as its hash, and the hash needs the key', () => {
  expect(hashedPart('sk-123', hash)).toMatch(/^%h[0-9a-f]{32}$/)
  expect(hashedPart('sk-123', hash)).not.toBe(hashedPart('sk-123', keyedHash('other')))
})
