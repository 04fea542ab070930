import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRetryAfter, retryAfter, retrySeconds } from './retry-after.ts'

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
})

describe('a Retry-After of any server', () => {
  const NOW = Date.UTC(2026, 0, 1)
  const LAST_MOMENT = Date.UTC(1999, 11, 31, 23, 59, 58, 250)

  it.each([
    ['120', 120_000],
    ['0', 0],
    [' 5 ', 5_000],
    ['2.0', 2_000],
    ['0.0205', 20.5],
    ['5, 7', 7_000],
    ['99999999999', 99_999_999_999_000],
    ['9'.repeat(99), Number.MAX_SAFE_INTEGER],
  ])('of seconds, %j, is read as milliseconds', (value, ms) => {
    expect(readRetryAfter(value, NOW)).toBe(ms)
  })

  it.each(['Fri, 31 Dec 1999 23:59:59 GMT', 'Friday, 31-Dec-99 23:59:59 GMT', 'Fri Dec 31 23:59:59 1999'])(
    'as a date, %j, counts from now, and is 0 once it has passed',
    (value) => {
      expect(readRetryAfter(value, LAST_MOMENT)).toBe(750)
      expect(readRetryAfter(value, LAST_MOMENT + 751)).toBe(0)
    },
  )

  it('as a date counts from the Date of the answer where that is known', () => {
    const value = 'Fri, 31 Dec 1999 23:59:59 GMT'
    expect(readRetryAfter(value, NOW, 'Fri, 31 Dec 1999 23:59:29 GMT')).toBe(30_000)
    expect(readRetryAfter(value, LAST_MOMENT, 'yesterday')).toBe(750)
    expect(readRetryAfter('7', LAST_MOMENT, 'Fri, 31 Dec 1999 23:59:29 GMT')).toBe(7_000)
  })

  it.each(['-1', '1e3', '+5', 'abc', '', ',', '5,', '31 Dec 1999', '1'.repeat(101)])(
    'such as %j is not understood',
    (value) => {
      expect(readRetryAfter(value, NOW)).toBeUndefined()
    },
  )

  it('may be any text at all', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[\d.,: GMTFrid-]*$/),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    )
    fc.assert(
      fc.property(text, fc.double(), fc.option(text, { nil: undefined }), (value, nowMs, date) => {
        const wait = readRetryAfter(value, nowMs, date)
        if (wait !== undefined && Number.isFinite(nowMs)) {
          expect(wait).toBeGreaterThanOrEqual(0)
          expect(wait).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER)
        }
      }),
      { numRuns: 5_000 },
    )
  })

  it('is read back as it was sent: never before the wait is over', () => {
    const form = fc.constantFrom('seconds' as const, 'date' as const)
    fc.assert(
      fc.property(fc.nat(1_000_000), form, fc.nat(4_000_000_000_000), (seconds, as, nowMs) => {
        const wait = readRetryAfter(retryAfter(seconds, as, nowMs), nowMs)!
        expect(wait).toBeGreaterThanOrEqual(seconds * 1_000)
        expect(wait).toBeLessThan(seconds * 1_000 + 1_000)
      }),
    )
  })
})
