import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { itemPlaces, MOST_LEVELS, MOST_VALUES } from './json-shape.ts'

function itemsIn(text: string, mostItems = 1_000): readonly string[] | undefined {
  const places = itemPlaces(text, mostItems)
  return places?.ends.map((end, i) => text.slice(places.starts[i], end))
}

const json = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(fc.jsonValue({ maxDepth: 2 })),
  fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', ' ') }),
)

describe('the places of the items of a list', () => {
  test('are where JSON has them, whatever they hold and however they are written', () => {
    fc.assert(
      fc.property(fc.array(json), fc.constantFrom('', '  ', '\n\t'), (list, indent) => {
        const text = `${indent}${JSON.stringify(list, undefined, indent)}${indent}`
        expect(itemsIn(text)?.map((item) => JSON.parse(item))).toEqual(JSON.parse(text))
      }),
    )
  })

  test('are none where a text is no list', () => {
    fc.assert(
      fc.property(json, (value) => {
        fc.pre(!Array.isArray(value))
        expect(itemsIn(JSON.stringify(value))).toBeUndefined()
      }),
    )
  })

  test('are those that JSON.parse takes too: what is no list never passes as one', () => {
    const piece = fc.constantFrom('[', ']', '{', '}', ',', '"', '\\', '1', ' ', '"a":')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = `[${pieces.join('')}`
        const parsed = attempt(() => JSON.parse(text) as unknown[])
        const items = attempt(() => itemsIn(text)!.map((item) => JSON.parse(item) as unknown))
        expect(items).toEqual(parsed)
      }),
      { numRuns: 3_000 },
    )
  })

  test('are one more than the most, of a list with more', () => {
    expect(itemsIn('[1,2,3,4,5]', 3)).toEqual(['1', '2', '3', '4'])
  })
})

function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

describe('OF-44: a body that would take long to parse is refused before', () => {
  const SIZE = 4 * 1_024 * 1_024
  const filled = (piece: string, before = '[', behind = ']'): string =>
    before + piece.repeat(Math.floor(SIZE / piece.length)).replace(/,$/, '') + behind
  test.each([
    ['values in an item', filled('[],', '[[', ']]'), 413],
    ['values in an object', filled('[],', '{"a":[', ']}'), 413],
    ['names', filled('"a":1,', '{', '}'), 413],
    ['separators without a list', filled('1,', '', ''), 413],
    ['levels', '['.repeat(SIZE / 2) + ']'.repeat(SIZE / 2), 400],
    ['levels of objects', filled('{"a":', '', '1'), 400],
  ])('for its %s', (_, text, statusCode) => {
    expect(() => itemPlaces(text, 1_000)).toThrow(expect.objectContaining({ statusCode }))
  })

  test('and one at the bounds is not', () => {
    const values = (count: number): string => `[[${'1,'.repeat(count - 1)}1]]`
    expect(itemsIn(values(MOST_VALUES))).toHaveLength(1)
    expect(() => itemsIn(values(MOST_VALUES + 1))).toThrow(`more than ${MOST_VALUES} names and values`)
    const levels = (count: number): string => '['.repeat(count) + ']'.repeat(count)
    expect(itemsIn(levels(MOST_LEVELS))).toHaveLength(1)
    expect(() => itemsIn(levels(MOST_LEVELS + 1))).toThrow(`more than ${MOST_LEVELS} levels`)
  })

  test('a full batch of large requests passes', () => {
    const entries = Array.from({ length: 10 }, (_, i) => ({ key: `k${i}`, value: 'v' }))
    const question = { domain: 'd', descriptors: Array.from({ length: 128 }, () => ({ entries })) }
    const text = JSON.stringify(question)
    expect(itemsIn(`[${Array.from({ length: 1_000 }, () => text).join(',')}]`)).toHaveLength(1_000)
  })
})
