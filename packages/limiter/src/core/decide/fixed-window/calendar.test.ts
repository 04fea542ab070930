import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../errors.ts'
import type { CalendarPeriod } from '../policy.ts'
import { calendarOf } from './calendar.ts'
import { parseCalendar } from './calendar-text.ts'

const us = (iso: string): number => Date.parse(iso) * 1_000
const iso = (micros: number): string => new Date(micros / 1_000).toISOString().replace(':00.000Z', 'Z')

function windowOf(period: CalendarPeriod, at: string): string[] {
  const { start, end } = calendarOf(period).windowAt(us(at))
  return [iso(start), iso(end)]
}

/** Period and anchor, an instant, the start and end of its window, and what that shows. */
const WINDOWS = `
  calendar-day                           | 2026-05-05T13:14Z        | 2026-05-05T00:00Z        | 2026-05-06T00:00Z        | is a UTC day by default
  calendar-day                           | 2026-05-05T00:00Z        | 2026-05-05T00:00Z        | 2026-05-06T00:00Z        | holds its first instant
  calendar-day                           | 2026-05-05T23:59:59.999Z | 2026-05-05T00:00Z        | 2026-05-06T00:00Z        | holds its last millisecond
  calendar-year                          | 1970-01-01T00:00Z        | 1970-01-01T00:00Z        | 1971-01-01T00:00Z        | begins at the epoch
  calendar-year@America/New_York         | 1970-01-01T00:00Z        | 1969-01-01T05:00Z        | 1970-01-01T05:00Z        | may have begun before the epoch
  calendar-day@Africa/Monrovia           | 1971-06-01T12:00Z        | 1971-06-01T00:44:30.000Z | 1971-06-02T00:44:30.000Z | follows offsets with seconds
  calendar-day@Asia/Shanghai             | 2026-05-05T17:00Z        | 2026-05-05T16:00Z        | 2026-05-06T16:00Z        | is the zone’s day, not UTC’s
  calendar-day@Europe/Paris              | 2026-10-24T22:30Z        | 2026-10-24T22:00Z        | 2026-10-25T23:00Z        | has 25 hours when clocks go back (FB-085)
  calendar-day@Europe/Paris              | 2026-03-29T12:00Z        | 2026-03-28T23:00Z        | 2026-03-29T22:00Z        | has 23 hours when clocks go forward
  calendar-day@Europe/Paris 02:30        | 2026-03-28T12:00Z        | 2026-03-28T01:30Z        | 2026-03-29T01:00Z        | ends where a skipped 02:30 would have been (FB-085)
  calendar-day@Europe/Paris 02:30        | 2026-03-29T01:00Z        | 2026-03-29T01:00Z        | 2026-03-30T00:30Z        | opens where a skipped 02:30 would have been
  calendar-day@Europe/Paris 02:30        | 2026-10-25T01:15Z        | 2026-10-25T00:30Z        | 2026-10-26T01:30Z        | opens at the first of two 02:30
  calendar-day@Africa/Cairo              | 2024-04-26T12:00Z        | 2024-04-25T22:00Z        | 2024-04-26T21:00Z        | opens at 01:00 where midnight is skipped: Cairo
  calendar-day@Africa/Cairo              | 2024-10-31T21:30Z        | 2024-10-30T21:00Z        | 2024-10-31T22:00Z        | shows 23:00 twice: Cairo
  calendar-day@Asia/Beirut               | 2024-03-31T12:00Z        | 2024-03-30T22:00Z        | 2024-03-31T21:00Z        | opens at 01:00 where midnight is skipped: Beirut
  calendar-day@America/Sao_Paulo         | 2018-11-04T12:00Z        | 2018-11-04T03:00Z        | 2018-11-05T02:00Z        | opens at 01:00 where midnight is skipped: São Paulo
  calendar-day@Australia/Lord_Howe       | 2024-10-06T00:00Z        | 2024-10-05T13:30Z        | 2024-10-06T13:00Z        | has 23.5 hours: Lord Howe
  calendar-day@Australia/Lord_Howe       | 2024-04-07T00:00Z        | 2024-04-06T13:00Z        | 2024-04-07T13:30Z        | has 24.5 hours: Lord Howe
  calendar-day@America/St_Johns          | 2010-11-07T02:45Z        | 2010-11-07T02:30Z        | 2010-11-08T03:30Z        | stays open when the evening before comes again: St John’s
  calendar-day@Pacific/Apia              | 2011-12-30T09:59Z        | 2011-12-29T10:00Z        | 2011-12-30T10:00Z        | ends before a day that its zone skips: Apia
  calendar-day@Pacific/Apia              | 2011-12-30T10:00Z        | 2011-12-30T10:00Z        | 2011-12-31T10:00Z        | opens after a day that its zone skips: Apia
  calendar-week                          | 2026-01-01T00:00Z        | 2025-12-29T00:00Z        | 2026-01-05T00:00Z        | is a week from Monday, over a new year
  calendar-week@America/New_York 7 18:00 | 2026-05-06T00:00Z        | 2026-05-03T22:00Z        | 2026-05-10T22:00Z        | is a week from Sunday evening
  calendar-month@Europe/Paris            | 2026-03-31T21:59Z        | 2026-02-28T23:00Z        | 2026-03-31T22:00Z        | is a local month
  calendar-month 31                      | 2026-04-10T00:00Z        | 2026-03-31T00:00Z        | 2026-04-30T00:00Z        | is a billing month from the 31st, in April the 30th
  calendar-month 31 02:30                | 2028-02-10T00:00Z        | 2028-01-31T02:30Z        | 2028-02-29T02:30Z        | is a billing month that ends on a leap day
  calendar-year@Europe/London 04-06      | 2026-04-05T22:59Z        | 2025-04-05T23:00Z        | 2026-04-05T23:00Z        | is a fiscal year
`
  .trim()
  .split('\n')
  .map((row) => row.split('|').map((cell) => cell.trim()) as [string, string, string, string, string])

describe('a calendar window', () => {
  it.each(WINDOWS)('%s at %s is %s to %s: it %s', (text, now, start, end) => {
    const [calendar, ...anchor] = text.split(' ')
    const period = parseCalendar(calendar!, anchor.length > 0 ? anchor.join(' ') : undefined)
    expect(windowOf(period, now)).toEqual([start, end])
  })

  it('remembers an anchor on the 31st through shorter months', () => {
    const starts = ['01-31', '02-28', '03-31', '04-30', '05-31', '06-30', '07-31'].map(
      (day) => `2026-${day}T00:00Z`,
    )
    const period = parseCalendar('calendar-month', '31')
    for (const [i, start] of starts.slice(0, -1).entries()) {
      expect(windowOf(period, start)).toEqual([start, starts[i + 1]])
    }
  })

  it('opens on 28 February where a year has no 29th', () => {
    const starts = ['2024-02-29', '2025-02-28', '2026-02-28', '2027-02-28', '2028-02-29'].map(
      (day) => `${day}T00:00Z`,
    )
    const period = parseCalendar('calendar-year', '02-29')
    for (const [i, start] of starts.slice(0, -1).entries()) {
      expect(windowOf(period, start)).toEqual([start, starts[i + 1]])
    }
  })

  it('counts microseconds: the last one before midnight is the old day’s', () => {
    const { windowAt } = calendarOf({ calendar: 'day', zone: 'Asia/Tokyo' })
    const midnight = us('2026-05-05T15:00Z')
    expect(windowAt(midnight - 1).end).toBe(midnight)
    expect(windowAt(midnight).start).toBe(midnight)
  })
})

/** Instants at which the label of a zone’s local time passes all before it, found by a look at every minute. */
function openings(zone: string, from: number, to: number, label: (local: Date) => number): number[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const found: number[] = []
  let highest = Number.NEGATIVE_INFINITY
  for (let at = from; at < to; at += 60_000) {
    const [, sign, hours, minutes] = /GMT(?:([+-])(\d\d):(\d\d))?$/.exec(format.format(at))!
    const offset = sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes))
    const now = label(new Date(at + offset * 60_000))
    if (now > highest && highest !== Number.NEGATIVE_INFINITY) found.push(at * 1_000)
    highest = Math.max(highest, now)
  }
  return found
}

describe('against a look at every minute', () => {
  const dayFrom = (hours: number) => (local: Date) => Math.floor((local.getTime() / 3_600_000 - hours) / 24)
  it.each([
    ['Europe/Paris', '2026-03-29'],
    ['Europe/Paris', '2026-10-25'],
    ['America/New_York', '2026-03-08'],
    ['America/New_York', '2026-11-01'],
    ['Africa/Cairo', '2024-04-26'],
    ['Africa/Cairo', '2024-10-31'],
    ['Asia/Beirut', '2024-03-31'],
    ['Asia/Beirut', '2024-10-27'],
    ['America/Sao_Paulo', '2018-11-04'],
    ['America/Sao_Paulo', '2019-02-17'],
    ['America/Havana', '2026-03-08'],
    ['America/Havana', '2026-11-01'],
    ['America/St_Johns', '2010-03-14'],
    ['America/St_Johns', '2010-11-07'],
    ['Australia/Lord_Howe', '2024-04-07'],
    ['Australia/Lord_Howe', '2024-10-06'],
    ['Pacific/Apia', '2011-12-30'],
    ['Pacific/Kwajalein', '1993-08-21'],
    ['Antarctica/Troll', '2026-03-29'],
    ['Asia/Kathmandu', '1986-01-01'],
  ])('days in %s about %s open where they should', (zone, date) => {
    const middle = Date.parse(date)
    const from = middle - 2 * 86_400_000
    for (const time of ['00:00', '02:15', '23:30']) {
      const hours = Number(time.slice(0, 2)) + Number(time.slice(3)) / 60
      const expected = openings(zone, from, middle + 3 * 86_400_000, dayFrom(hours))
      const { windowAt } = calendarOf({ calendar: 'day', zone, anchor: { time } })
      expect(expected.length).toBeGreaterThanOrEqual(4)
      for (const [i, start] of expected.slice(0, -1).entries()) {
        const window = { start, end: expected[i + 1]! }
        expect(windowAt(start)).toEqual(window)
        expect(windowAt(window.end - 1)).toEqual(window)
      }
    }
  })

  it.each([
    ['month', (local: Date) => local.getUTCFullYear() * 12 + local.getUTCMonth()],
    ['week', (local: Date) => Math.floor((local.getTime() / 86_400_000 + 3) / 7)],
    ['year', (local: Date) => local.getUTCFullYear()],
  ] as const)('a %s in Auckland opens where it should', (calendar, label) => {
    const [start] = openings('Pacific/Auckland', Date.parse('2025-12-28'), Date.parse('2026-01-02'), label)
    const { windowAt } = calendarOf({ calendar, zone: 'Pacific/Auckland' })
    expect(windowAt(start!).start).toBe(start)
    expect(windowAt(start! - 1).end).toBe(start)
  })
})

describe('windows in any zone, by any anchor, at any time', () => {
  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'))
  const anchors = fc.oneof(
    fc.record({ calendar: fc.constant('day' as const), anchor: fc.record({ time }) }),
    fc.record({
      calendar: fc.constant('week' as const),
      anchor: fc.record({ day: fc.integer({ min: 1, max: 7 }), time }),
    }),
    fc.record({
      calendar: fc.constant('month' as const),
      anchor: fc.record({ day: fc.integer({ min: 1, max: 31 }), time }),
    }),
    fc.record({
      calendar: fc.constant('year' as const),
      anchor: fc.record({
        month: fc.integer({ min: 1, max: 12 }),
        day: fc.integer({ min: 1, max: 28 }),
        time,
      }),
    }),
  )
  const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const instants = fc.integer({ min: 0, max: us('2100-01-01') })

  it('hold their instants and lie end to end', () => {
    fc.assert(
      fc.property(anchors, zones, instants, (period, zone, now) => {
        const { windowAt } = calendarOf({ ...period, zone })
        const window = windowAt(now)
        expect(window.start <= now && now < window.end).toBe(true)
        expect(windowAt(window.start)).toEqual(window)
        expect(windowAt(window.end - 1)).toEqual(window)
        expect(windowAt(window.start - 1).end).toBe(window.start)
        expect(windowAt(window.end).start).toBe(window.end)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('a calendar period', () => {
  it.each([
    null,
    'calendar-day',
    {},
    { calendar: 'fortnight' },
    { calendar: 'day', zoen: 'Europe/Paris' },
    { calendar: 'day', zone: null },
    { calendar: 'day', zone: ['UTC'] },
    { calendar: 'month', anchor: 31 },
    { calendar: 'month', anchor: { day: 1.5 } },
    { calendar: 'month', anchor: { day: '31' } },
    { calendar: 'day', anchor: { time: 230 } },
  ])('is refused as an object: %j', (period) => {
    expect(() => calendarOf(period as never)).toThrow(ConfigError)
  })
})
