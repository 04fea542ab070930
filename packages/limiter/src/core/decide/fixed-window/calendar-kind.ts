import type { CalendarPeriod } from '../policy.ts'
import { daysTo, monthLength } from './civil.ts'
import { DAY, type LocalTime } from './zone.ts'

/** When in its period a window opens, nothing left to default. */
export interface Anchor {
  readonly month: number
  readonly day: number
  /** Seconds after midnight. */
  readonly time: number
}

/** One kind of calendar period. */
export interface CalendarKind {
  /** Nominal length. */
  readonly days: number
  /** What an anchor may name. */
  readonly anchor: readonly string[]
  /** The last day that an anchor may name. */
  lastDay(month: number): number
  /** Which period a local time lies in, were there no anchor. */
  indexOf(local: LocalTime): number
  /** The day, counted from 1970-01-01, on which a period opens. */
  opens(index: number, anchor: Anchor): number
}

export const calendarKinds: Readonly<Record<CalendarPeriod['calendar'], CalendarKind>> = {
  day: {
    days: 1,
    anchor: ['time'],
    lastDay: () => 1,
    indexOf: ({ seconds }) => Math.floor(seconds / DAY),
    opens: (index) => index,
  },
  week: {
    days: 7,
    anchor: ['day', 'time'],
    lastDay: () => 7,
    indexOf: ({ seconds }) => Math.floor((Math.floor(seconds / DAY) + 3) / 7), // 1970-01-01 was a Thursday
    opens: (index, { day }) => index * 7 - 3 + day - 1,
  },
  month: {
    days: 30,
    anchor: ['day', 'time'],
    lastDay: () => 31,
    indexOf: ({ year, month }) => year * 12 + month - 1,
    opens: (index, { day }) => heldDay(Math.floor(index / 12), (index % 12) + 1, day),
  },
  year: {
    days: 365,
    anchor: ['month', 'day', 'time'],
    lastDay: (month) => monthLength(2_000, month),
    indexOf: ({ year }) => year,
    opens: (year, { month, day }) => heldDay(year, month, day),
  },
}

export function isCalendar(name: unknown): name is CalendarPeriod['calendar'] {
  return typeof name === 'string' && Object.hasOwn(calendarKinds, name)
}

/** The 31st of a month of 30 days is its 30th. */
function heldDay(year: number, month: number, day: number): number {
  return daysTo(year, month, Math.min(day, monthLength(year, month)))
}
