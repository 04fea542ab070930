import type { CalendarPeriod } from '@sluice/limiter'
import { parseCalendar } from '@sluice/limiter/algorithms'
import { nearest } from '@sluice/limiter/errors'
import type { Quota } from '@sluice/limiter/rules'
import { TICKS_PER_MS, ticksOf } from '@sluice/limiter/time'
import { asFieldError, FieldError, quoted } from '../mistake.ts'

const CALENDARS = ['calendar-day', 'calendar-week', 'calendar-month', 'calendar-year']
const PERIOD_UNITS = ['second', 'minute', 'hour', 'day', 'week']

/** `COUNT/PERIOD`: `5/minute`, `300/3h`, `1000/calendar-month@Europe/Paris`. @throws Mistake */
export function parseQuota(text: string): Quota {
  const [, count, period] = /^(0|[1-9]\d*)\/(.*)$/.exec(text) ?? []
  if (count === undefined || period === undefined) {
    throw new FieldError(`${quoted(text)} is not COUNT/PERIOD, such as 5/minute or 300/3h`)
  }
  const limit = Number(count)
  if (!Number.isSafeInteger(limit)) throw new FieldError(`${count.slice(0, 40)} is more than 2^53−1`)
  try {
    return { limit, period: parsePeriod(period) }
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    throw new FieldError(error.message, () => {
      const { hint } = error
      return hint && `${count}/${hint}`
    })
  }
}

/** Milliseconds of a duration, or a calendar period: `10s`, `minute`, `calendar-day@Asia/Tokyo`. @throws Mistake */
export function parsePeriod(text: string): number | CalendarPeriod {
  const [, calendar, zone] = /^(calendar\b[^@]*)(?:@(.*))?$/.exec(text) ?? []
  if (calendar === undefined) return parseDuration(text, [...PERIOD_UNITS, ...CALENDARS])
  return asFieldError(
    () => parseCalendar(text),
    () => {
      if (!CALENDARS.includes(calendar)) return nearest(calendar, CALENDARS)
      const meant = nearest(zone ?? '', Intl.supportedValuesOf('timeZone'))
      return meant === undefined ? undefined : `${calendar}@${meant}`
    },
  )
}

/** Milliseconds of `10s`, `1.5h`, `minute`. @throws Mistake */
export function parseDuration(text: string, units: readonly string[] = PERIOD_UNITS): number {
  const [, count = '', unit = ''] = /^([\d.]*)\s*(.*)$/.exec(text) ?? []
  const [, uneven] = /^(month|year)s?$/.exec(unit) ?? []
  if (uneven !== undefined) {
    throw new FieldError(`a ${uneven} has no fixed length: write days, such as 30d, or a calendar period`)
  }
  return asFieldError(
    () => ticksOf(text) / TICKS_PER_MS,
    () => {
      const meant = nearest(unit, units)
      return meant === undefined || meant === unit ? undefined : `${count}${meant}`
    },
  )
}

/** The same period with its windows opening at `anchor`, such as `31 02:30`. @throws Mistake */
export function anchored({ calendar, zone }: CalendarPeriod, anchor: string): CalendarPeriod {
  return asFieldError(() =>
    parseCalendar(`calendar-${calendar}${zone === undefined ? '' : `@${zone}`}`, anchor),
  )
}
