import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalizeName } from './normalize-name.ts'

describe('a folded name', () => {
  it('FB-066: is one, however it is composed', () => {
    const names = [
      'ren\u00e9',
      'rene\u0301',
      'REN\u00c9',
      ' ren\u00e9 ',
      '\uff52en\u00e9',
      'ren\u00ad\u00e9\u200b',
    ]
    expect(new Set(names.map(normalizeName))).toEqual(new Set(['ren\u00e9']))
  })

  it('keeps different people apart', () => {
    expect(
      new Set(['rene', 'ren\u00e9', 'ren\u00e8', 'r ene', '\ud800', '\ud801'].map(normalizeName)).size,
    ).toBe(6)
  })

  it('OF-43: is the same in linear time, however many marks follow one another', () => {
    const marks = fc.constantFrom(
      ...'\u0300\u0323\u0334\u0344\u0345\u0f73\u0f71\u093c\u0903\uff9e\u302a\u{1d165}\u{1d160}\u200d',
    )
    const run = fc.array(marks, { minLength: 30, maxLength: 120 }).map((some) => some.join(''))
    fc.assert(
      fc.property(
        fc.array(fc.oneof(run, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 4 }),
        (pieces) => {
          const name = pieces.join('')
          expect(normalizeName(name)).toBe(plainly(name))
        },
      ),
      { numRuns: 1_000 },
    )
    const all = everyMark()
    expect(normalizeName(all)).toBe(plainly(all))
  })

  it('is folded already', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        expect(normalizeName(normalizeName(name))).toBe(normalizeName(name))
      }),
      { numRuns: 2_000 },
    )
  })
})

/** By the engine alone, in quadratic time. */
function plainly(text: string): string {
  const visible = text.replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  return visible.normalize('NFKC').toLowerCase().normalize('NFKC').trim()
}

/** All combining marks there are, highest first: most classes meet out of order. */
function everyMark(): string {
  const marks = Array.from({ length: 0x20_000 }, (_, code) => String.fromCodePoint(code)).filter((char) =>
    /\p{M}/u.test(char),
  )
  return marks.reverse().join('')
}
