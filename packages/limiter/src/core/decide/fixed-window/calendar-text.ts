import { ConfigError } from '../../errors.ts'
import type { CalendarPeriod } from '../policy.ts'
import { calendarOf } from './calendar.ts'
import { calendarKinds, isCalendar } from './calendar-kind.ts'

/**
 * A calendar period from text: `calendar-month@Europe/Paris`, the zone being UTC where it is not named. `anchor` is
 * `[[MM-]DD] [HH:MM]`: `02:30` for a day, `1 02:30` (Monday) for a week, `31` for a month, `02-29 00:00` for a year.
 * @throws ConfigError for text that is none, and as {@link calendarOf}.
 * @example
 * parseCalendar('calendar-month@Europe/Paris', '15 02:30')
 * // { calendar: 'month', zone: 'Europe/Paris', anchor: { day: 15, time: '02:30' } }
 */
export function parseCalendar(text: string, anchor?: string): CalendarPeriod {
  const [, calendar, zone] = /^calendar-([^@]*)(?:@(.*))?$/.exec(text) ?? []
  if (calendar === undefined || !isCalendar(calendar)) {
    const names = Object.keys(calendarKinds).map((name) => `calendar-${name}`)
    throw new ConfigError(
      `${JSON.stringify(text.slice(0, 40))} is not a calendar period: write ${names.join(', ')}, or one of them @ZONE`,
    )
  }
  const period = {
    calendar,
    ...(zone !== undefined && { zone }),
    ...(anchor !== undefined && { anchor: parseAnchor(anchor) }),
  }
  calendarOf(period)
  return period
}

function parseAnchor(text: string): NonNullable<CalendarPeriod['anchor']> {
  const found = /^(?=.)(?:(?:(\d\d)-)?(\d\d?))?(?:(?:^| )(\d\d:\d\d))?$/.exec(text)
  if (found === null) {
    throw new ConfigError(
      `${JSON.stringify(text.slice(0, 40))} is not an anchor: write 02:30, 1 02:30, 31 02:30 or 02-29 02:30`,
    )
  }
  const [, month, day, time] = found
  return {
    ...(month !== undefined && { month: Number(month) }),
    ...(day !== undefined && { day: Number(day) }),
    ...(time !== undefined && { time }),
  }
}
