import { describe, expect, it } from 'vitest'
import { parseDuration, parsePeriod, parseQuota } from './quota.ts'

describe('a quota', () => {
  it.each([
    ['5/minute', 5, 60_000],
    ['300/3h', 300, 10_800_000],
    ['100/30s', 100, 30_000],
    ['5/week', 5, 604_800_000],
    ['0/second', 0, 1_000],
    ['1/1.5h', 1, 5_400_000],
    ['2/500ms', 2, 500],
    ['9007199254740991/day', Number.MAX_SAFE_INTEGER, 86_400_000],
  ])('%s is %d per %d ms', (text, limit, period) => {
    expect(parseQuota(text)).toEqual({ limit, period })
  })

  it('may follow a calendar', () => {
    expect(parseQuota('1000/calendar-month@Europe/Paris')).toEqual({
      limit: 1_000,
      period: { calendar: 'month', zone: 'Europe/Paris' },
    })
    expect(parseQuota('7/calendar-day')).toEqual({ limit: 7, period: { calendar: 'day' } })
  })

  it.each([
    '',
    '5',
    '/minute',
    'five/minute',
    '-1/minute',
    '+5/minute',
    '05/minute',
    '1.5/minute',
    '1e3/minute',
  ])('%j is none', (text) => {
    expect(() => parseQuota(text)).toThrow(`${JSON.stringify(text)} is not COUNT/PERIOD, such as 5/minute`)
  })

  it.each([
    ['5/', 'is not a duration'],
    ['5/0s', 'is not a duration'],
    ['5/10', 'is not a duration'],
    ['5/-1s', 'is not a duration'],
    ['5/month', 'a month has no fixed length: write days, such as 30d, or a calendar period'],
    ['5/2years', 'a year has no fixed length'],
    ['9007199254740992/day', '9007199254740992 is more than 2^53−1'],
    ['5/calendar-decade', 'is not a calendar period'],
    ['5/calendar-day@', 'zone'],
  ])('%s is told why: %s', (text, message) => {
    expect(() => parseQuota(text)).toThrow(message)
  })

  it.each([
    ['5/minut', '5/minute'],
    ['5/10minits', '5/10minute'],
    ['5/calendar-mont', '5/calendar-month'],
    ['5/calendar-day@Europe/Pari', '5/calendar-day@Europe/Paris'],
  ])('%s may have meant %s', (text, hint) => {
    expect(() => parseQuota(text)).toThrow(expect.objectContaining({ hint }))
  })
})

it('a period is a quota’s without its count', () => {
  expect(parsePeriod('10s')).toBe(10_000)
  expect(parsePeriod('calendar-week@Asia/Tokyo')).toEqual({ calendar: 'week', zone: 'Asia/Tokyo' })
})

it('a duration follows no calendar', () => {
  expect(parseDuration('15m')).toBe(900_000)
  expect(() => parseDuration('calendar-day')).toThrow('is not a duration')
})
