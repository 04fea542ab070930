import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyedHash } from './keyed-hash.ts'
import { sha256, TextHash } from './sha-256.ts'
import { utf8 } from './utf8.ts'

describe('the keyed hash', () => {
  it('is HMAC-SHA-256, cut to 128 bits', () => {
    // RFC 4231, test case 2
    expect(keyedHash('Jefe')('what do ya want for nothing?')).toBe('5bdcc146bf60754e6a042426089575c7')
  })

  it('agrees with Node for every length of secret and text', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 200 })
    fc.assert(
      fc.property(texts, texts, (secret, text) => {
        const theirs = createHmac('sha256', secret).update(text).digest('hex').slice(0, 32)
        expect(keyedHash(secret)(text)).toBe(theirs)
      }),
      { numRuns: 300 },
    )
  })

  it.each([55, 56, 63, 64, 65, 119, 120, 128, 10_000])('agrees with Node at %i bytes', (length) => {
    const text = 'a'.repeat(length)
    expect(keyedHash(text)(text)).toBe(createHmac('sha256', text).update(text).digest('hex').slice(0, 32))
  })
})

it('SHA-256 agrees with Node', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(Buffer.from(sha256(bytes))).toEqual(createHash('sha256').update(bytes).digest())
    }),
  )
})

it('SHA-256 of a text is that of its UTF-16, whatever was hashed before', () => {
  const hash = new TextHash()
  const units = fc.array(fc.nat(0xffff), { maxLength: 200 })
  fc.assert(
    fc.property(units, (all) => {
      const text = String.fromCharCode(...all)
      const own = Buffer.alloc(32)
      for (const [i, word] of hash.of(text).entries()) own.writeInt32BE(word, i * 4)
      expect(own).toEqual(createHash('sha256').update(Buffer.from(text, 'utf16le')).digest())
    }),
  )
})

describe('UTF-8', () => {
  it('is what Node writes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(Buffer.from(utf8(text))).toEqual(Buffer.from(text, 'utf8'))
      }),
    )
  })

  it('keeps lone surrogates apart', () => {
    expect([...utf8('\ud800')]).toEqual([0xed, 0xa0, 0x80])
    expect(utf8('\ud800')).not.toEqual(utf8('\ud801'))
  })
})
