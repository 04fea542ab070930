import * as fc from 'fast-check'
import {
  type BareItem as OtherBareItem,
  type Item as OtherItem,
  parseDictionary,
  parseList,
  serializeDictionary,
  serializeList,
  Token,
} from 'structured-headers'
import { describe, expect, it } from 'vitest'
import { type Item, readDictionary, readList } from './structured-field-reader.ts'

/** An item in the terms of the other implementation, in which Tokens are not text. */
const ours = ([value, parameters]: OtherItem): Item => ({
  value: bare(value),
  parameters: new Map([...parameters].map(([key, each]) => [key, bare(each)])),
})

function bare(value: OtherBareItem): Item['value'] {
  if (value instanceof Token) return value.toString()
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  return value as Item['value']
}

const values: fc.Arbitrary<OtherBareItem> = fc.oneof(
  fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }),
  fc.integer({ min: -999_999, max: 999_999 }).map((thousandths) => thousandths / 1_000),
  fc.string({ unit: 'grapheme-ascii' }),
  fc.stringMatching(/^[A-Za-z*][\w:/!#$%&'*+.^`|~-]*$/).map((text) => new Token(text)),
  fc.uint8Array().map((bytes) => bytes.slice().buffer as ArrayBuffer),
  fc.boolean(),
)
const keys = fc.stringMatching(/^[a-z*][a-z0-9_.*-]*$/)
const items: fc.Arbitrary<OtherItem> = fc.tuple(
  values,
  fc.array(fc.tuple(keys, values), { maxLength: 4 }).map((entries) => new Map(entries)),
)

describe('the reader of structured fields', () => {
  it('reads every List that another implementation writes', () => {
    fc.assert(
      fc.property(fc.array(items, { minLength: 1 }), (list) => {
        expect(readList(serializeList(list))).toEqual(list.map(ours))
      }),
      { numRuns: 1_000 },
    )
  })

  it('reads every Dictionary that another implementation writes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(keys, items), { minLength: 1 }), (entries) => {
        const dictionary = new Map(entries)
        const expected = new Map([...dictionary].map(([key, item]) => [key, ours(item)]))
        expect(readDictionary(serializeDictionary(dictionary))).toEqual(expected)
      }),
      { numRuns: 1_000 },
    )
  })

  it('reads any text, and all that another implementation accepts, in the same way', () => {
    const pieces = [
      '"',
      '\\',
      ',',
      ';',
      '=',
      ':',
      '?',
      '?1',
      '-',
      '.',
      ' ',
      '1',
      '12345',
      'a',
      'A',
      '*',
      'r',
      'é',
      '\t',
    ]
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const list = readList(text)
        const dictionary = readDictionary(text)
        const others = accepted(() => parseList(text) as OtherItem[])
        if (others !== undefined) expect(list).toEqual(others.map(ours))
        const members = accepted(() => [...parseDictionary(text)] as [string, OtherItem][])
        if (members !== undefined)
          expect(dictionary).toEqual(new Map(members.map(([key, item]) => [key, ours(item)])))
      }),
      { numRuns: 5_000 },
    )
  })

  it('accepts spaces about commas, semicolons and equals signs, and bytes without padding', () => {
    expect(readList('  "a" ; r = 1;t\t=2\t,b ')).toEqual([
      {
        value: 'a',
        parameters: new Map([
          ['r', 1],
          ['t', 2],
        ]),
      },
      { value: 'b', parameters: new Map() },
    ])
    expect(readList(':AP8QAA:')).toEqual([{ value: Uint8Array.of(0, 255, 16, 0), parameters: new Map() }])
  })

  it('reads an empty text as a List without items', () => {
    expect([readList(''), readList(' ')]).toEqual([[], []])
  })

  it.each([
    ...[
      'a,',
      ',a',
      'a,,b',
      'a b',
      'a;',
      'a;R=1',
      'a;r=',
      '"a',
      '"a\\b"',
      '"é"',
      '"a\u007f"',
      '"a\nb"',
      '?2',
      '?',
    ],
    ...[
      '1234567890123456',
      '1.',
      '.5',
      '1.2345',
      '--1',
      '-',
      '1a',
      ':a:',
      ':_A==:',
      ':AA=A:',
      ':AAA',
      ':A===:',
    ],
    ...['(a b)', '@1', '%"a"', '=', ';', '\0'],
  ])('does not read %j', (text) => {
    expect(readList(text)).toBeUndefined()
  })

  it.each(['a=', 'A=1', '1=1', 'a=1,', 'a b', '"a"=1', 'a=(1 2)'])(
    'does not read the Dictionary %j',
    (text) => {
      expect(readDictionary(text)).toBeUndefined()
    },
  )
})

/** What the other implementation makes of a text; undefined where it refuses. */
function accepted<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
