import * as fc from 'fast-check'
import { parseItem, serializeItem } from 'structured-headers'
import { describe, expect, it } from 'vitest'
import { bytes, integer, parameter, string } from './structured-field.ts'

describe('structured fields', () => {
  it('hold integers to 15 digits, whole, without a sign', () => {
    expect([0, 1.9, 1e18, -7, -0, Number.NaN, Number.POSITIVE_INFINITY].map((n) => `${integer(n)}`)).toEqual([
      '0',
      '1',
      '999999999999999',
      '0',
      '0',
      '0',
      '999999999999999',
    ])
  })

  it('escape quotes and backslashes, and nothing else', () => {
    expect(string(`a"b\\c'd`)).toBe(`"a\\"b\\\\c'd"`)
  })

  it('let no character into a header that does not belong there', () => {
    expect(string('a\r\nSet-Cookie: b\0é')).toBe('"a??Set-Cookie: b??"')
  })

  it('write any bytes as Node writes base64', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (value) => {
        expect(bytes(value)).toBe(`:${Buffer.from(value).toString('base64')}:`)
      }),
    )
  })

  it('are read back by another implementation, value for value', () => {
    const printableText = fc.string({ unit: 'grapheme-ascii' })
    fc.assert(
      fc.property(printableText, fc.nat(), printableText, fc.uint8Array(), (name, q, qu, pk) => {
        const parameters = { q, qu, w: undefined, pk }
        const text =
          string(name) +
          Object.entries(parameters)
            .map(([key, value]) => parameter(`;${key}=`, value))
            .join('')
        const [value, read] = parseItem(text)
        expect(value).toBe(name)
        expect([...read.keys()]).toEqual(['q', 'qu', 'pk'])
        expect(read.get('q')).toBe(q)
        expect(read.get('qu')).toBe(qu)
        expect(new Uint8Array(read.get('pk') as ArrayBuffer)).toEqual(pk)
        expect(serializeItem([value, read])).toBe(text)
      }),
    )
  })
})
