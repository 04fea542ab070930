import fc from 'fast-check'
import { expect, test } from 'vitest'
import { repeatedName } from './json.ts'

interface Written {
  readonly text: string
  /** Whether an object in it has a name twice. */
  readonly repeats: boolean
}

const name = fc.constantFrom('a', '\\u0061', 'b', 'c:', 'd\\"', '', '{')
const written = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('1', '"a:b"', '"\\":"', 'null').map((text) => ({ text, repeats: false })),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => ({
      text: `[${items.map(({ text }) => text).join(', ')}]`,
      repeats: items.some(({ repeats }) => repeats),
    })),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map((fields) => ({
      text: `{${fields.map(([own, { text }]) => `"${own}": ${text}`).join(',')}}`,
      repeats:
        fields.some(([, { repeats }]) => repeats) ||
        new Set(fields.map(([own]) => JSON.parse(`"${own}"`))).size < fields.length,
    })),
  ),
})).value

test('a name is found wherever one object has it twice, and nowhere else', () => {
  fc.assert(
    fc.property(written, ({ text, repeats }) => {
      expect(repeatedName(text, JSON.parse(text)) !== undefined).toBe(repeats)
    }),
  )
})
