import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { imfFixdate, retryAfter, retrySeconds } from './retry-after.ts'

describe('Retry-After', () => {
  it('T30, FB-051: is whole seconds, rounded up, at least 1, and absent when no wait helps', () => {
    expect([0, 0.001, 1_000, 1_000.001, 2_999.999, 3_000].map(retrySeconds)).toEqual([1, 1, 1, 2, 3, 3])
    expect(retrySeconds(null)).toBeUndefined()
  })

  it('as a date counts from the end of the current second', () => {
    const at = Date.UTC(2026, 1, 28, 23, 59, 58)
    expect(retryAfter(2, 'date', at)).toBe('Sun, 01 Mar 2026 00:00:00 GMT')
    expect(retryAfter(2, 'date', at + 1)).toBe('Sun, 01 Mar 2026 00:00:01 GMT')
  })

  it('is sent as seconds where a date would need a fifth digit for the year', () => {
    const last = Date.UTC(9999, 11, 31, 23, 59, 59)
    expect(retryAfter(1, 'date', last - 1_000)).toBe('Fri, 31 Dec 9999 23:59:59 GMT')
    expect(retryAfter(1, 'date', last)).toBe('1')
  })

  it('writes the date of RFC 9110', () => {
    expect(imfFixdate(784_111_777)).toBe('Sun, 06 Nov 1994 08:49:37 GMT')
  })

  it('writes every date as the platform does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (seconds) => {
        expect(imfFixdate(seconds)).toBe(new Date(seconds * 1_000).toUTCString())
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
  ])('writes the edge %i-%i-%i', (year, month, day) => {
    const ms = Date.UTC(year, month, day)
    expect(imfFixdate(ms / 1_000)).toBe(new Date(ms).toUTCString())
  })
})
