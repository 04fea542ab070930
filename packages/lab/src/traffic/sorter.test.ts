import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Sorter } from './sorter.ts'

function sorted(times: readonly number[], capacity: number): { at: number[]; lines: number[]; late: number } {
  const sorter = new Sorter<{ line: number }>(capacity)
  const out = times.map((at, line) => sorter.push(at, -1, { line })).filter((batch) => batch !== undefined)
  out.push(sorter.flush())
  return {
    at: out.flatMap(({ at }) => [...at]),
    lines: out.flatMap(({ made }) => made.map(({ line }) => line)),
    late: sorter.late,
  }
}

describe('the sorter', () => {
  it('sorts a log that it can hold as a whole, and keeps lines of one time in order', () => {
    expect(sorted([5, 3, 5, 1, 3], 5)).toEqual({ at: [1, 3, 3, 5, 5], lines: [3, 1, 4, 0, 2], late: 0 })
  })

  it('sorts a longer one as far as it reaches', () => {
    const times = Array.from({ length: 1_000 }, (_, i) => (i % 2 === 0 ? i + 5 : i))
    expect(sorted(times, 20)).toMatchObject({ at: times.toSorted((a, b) => a - b), late: 0 })
  })

  it('holds what comes too late at the time reached, and counts it', () => {
    expect(sorted([1, 2, 3, 4, 5, 0], 4)).toEqual({
      at: [1, 2, 2, 3, 4, 5],
      lines: [0, 1, 5, 2, 3, 4],
      late: 1,
    })
  })

  it('loses no line and never steps back, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.integer({ min: 2, max: 20 }), (times, capacity) => {
        const { at, lines, late } = sorted(times, capacity)
        expect(lines.toSorted((a, b) => a - b)).toEqual(times.map((_, i) => i))
        expect(at).toEqual(at.toSorted((a, b) => a - b))
        expect(at.filter((time, i) => time !== times[lines[i]!])).toHaveLength(late)
      }),
    )
  })
})
