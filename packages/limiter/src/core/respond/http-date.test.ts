import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { imfFixdate, readHttpDate } from './http-date.ts'

const NOW = Date.UTC(2026, 0, 1)

describe('HTTP dates', () => {
  it('are written as RFC 9110 has them', () => {
    expect(imfFixdate(784_111_777)).toBe('Sun, 06 Nov 1994 08:49:37 GMT')
  })

  it('are written as the platform writes them, and read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (seconds) => {
        const text = imfFixdate(seconds)
        expect(text).toBe(new Date(seconds * 1_000).toUTCString())
        expect(readHttpDate(text, NOW)).toBe(seconds)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    [2000, 1, 29],
    [2100, 1, 28],
    [2100, 2, 1],
    [2023, 11, 31],
    [2024, 0, 1],
    [1970, 0, 1],
  ])('are right at the edge %i-%i-%i', (year, month, day) => {
    const ms = Date.UTC(year, month, day)
    expect(imfFixdate(ms / 1_000)).toBe(new Date(ms).toUTCString())
    expect(readHttpDate(new Date(ms).toUTCString(), NOW)).toBe(ms / 1_000)
  })

  it('are read in all three forms', () => {
    for (const text of [
      'Sun, 06 Nov 1994 08:49:37 GMT',
      'Sunday, 06-Nov-94 08:49:37 GMT',
      'Sun Nov  6 08:49:37 1994',
    ]) {
      expect(readHttpDate(text, NOW)).toBe(784_111_777)
    }
    expect(readHttpDate('Sun Nov 16 08:49:37 1994', NOW)).toBe(784_111_777 + 10 * 86_400)
  })

  it('with a year of two digits are never more than 50 years ahead', () => {
    const year = (digits: string, nowMs: number): number =>
      new Date(readHttpDate(`Friday, 01-Jan-${digits} 00:00:00 GMT`, nowMs)! * 1_000).getUTCFullYear()
    expect([year('76', NOW), year('77', NOW), year('99', NOW), year('00', NOW)]).toEqual([
      2076, 1977, 1999, 2000,
    ])
    expect(year('05', Date.UTC(2105, 0, 1))).toBe(2105)
  })

  it('may be before 1970, or hold a leap second', () => {
    expect(readHttpDate('Wed, 31 Dec 1969 23:59:59 GMT', NOW)).toBe(-1)
    expect(readHttpDate('Fri, 31 Dec 1999 23:59:60 GMT', NOW)).toBe(Date.UTC(2000, 0, 1) / 1_000)
  })

  it.each([
    'Fri, 31 Feb 2026 00:00:00 GMT',
    'Fri, 29 Feb 2023 00:00:00 GMT',
    'Fri, 00 Feb 2023 00:00:00 GMT',
    'Fri, 31 Dec 1999 24:00:00 GMT',
    'Fri, 31 Dec 1999 23:60:00 GMT',
    'Fri, 31 Dec 1999 23:59:61 GMT',
    'Fri, 31 Dec 1999 23:59:59 CET',
    'Fri, 31 dec 1999 23:59:59 GMT',
    'Fri, 31 Dec 1999 23:59:59 GMT, Fri, 31 Dec 1999 23:59:59 GMT',
    '31 Dec 1999',
    '1999-12-31T23:59:59Z',
    '',
  ])('do not look like %j', (text) => {
    expect(readHttpDate(text, NOW)).toBeUndefined()
  })
})
