import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../errors.ts'
import type { CalendarPeriod } from '../policy.ts'
import { parseCalendar } from './calendar-text.ts'

describe('a calendar period in text', () => {
  it.each<[readonly [string, string?], CalendarPeriod]>([
    [['calendar-day'], { calendar: 'day' }],
    [['calendar-month@Europe/Paris'], { calendar: 'month', zone: 'Europe/Paris' }],
    [['calendar-day@UTC', '02:30'], { calendar: 'day', zone: 'UTC', anchor: { time: '02:30' } }],
    [['calendar-week', '1 02:30'], { calendar: 'week', anchor: { day: 1, time: '02:30' } }],
    [['calendar-month', '31'], { calendar: 'month', anchor: { day: 31 } }],
    [['calendar-month', '31 02:30'], { calendar: 'month', anchor: { day: 31, time: '02:30' } }],
    [['calendar-year', '02-29'], { calendar: 'year', anchor: { month: 2, day: 29 } }],
    [['calendar-year', '02-29 00:00'], { calendar: 'year', anchor: { month: 2, day: 29, time: '00:00' } }],
  ])('is read: %j', (text, period) => {
    expect(parseCalendar(...text)).toEqual(period)
  })

  it.each<[text: readonly [string, string?], message: string]>([
    [['month'], '"month" is not a calendar period: write calendar-day, calendar-week'],
    [['calendar-moth'], '"calendar-moth" is not a calendar period'],
    [['calendar-constructor'], 'is not a calendar period'],
    [['calendar-day@'], '"" is not an IANA time zone: write a name such as Europe/Paris'],
    [['calendar-day@Europe/Pariss'], '"Europe/Pariss" is not an IANA time zone: did you mean Europe/Paris?'],
    [['calendar-day@new york'], 'did you mean America/New_York?'],
    [['calendar-day@Lima'], 'did you mean America/Lima?'],
    [['calendar-day@+02:00'], '"+02:00" is not an IANA time zone'],
    [['calendar-day', ''], '"" is not an anchor'],
    [['calendar-day', 'noon'], '"noon" is not an anchor'],
    [['calendar-day', '24:00'], 'anchor.time must be HH:MM, from 00:00 to 23:59, not "24:00"'],
    [['calendar-day', '5 02:30'], 'the anchor of calendar-day has no "day"; it may have time'],
    [['calendar-week', '8'], 'anchor.day must be a whole number from 1 to 7'],
    [['calendar-month', '32'], 'anchor.day must be a whole number from 1 to 31'],
    [['calendar-month', '02-29'], 'the anchor of calendar-month has no "month"'],
    [['calendar-year', '13-01'], 'anchor.month must be a whole number from 1 to 12'],
    [['calendar-year', '02-30'], 'anchor.day must be a whole number from 1 to 29'],
  ])('is refused: %j', (text, message) => {
    expect(() => parseCalendar(...text)).toThrow(ConfigError)
    expect(() => parseCalendar(...text)).toThrow(message)
  })
})
