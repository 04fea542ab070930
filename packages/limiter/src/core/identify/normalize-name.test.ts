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

  it('is folded already', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        expect(normalizeName(normalizeName(name))).toBe(normalizeName(name))
      }),
      { numRuns: 2_000 },
    )
  })
})
