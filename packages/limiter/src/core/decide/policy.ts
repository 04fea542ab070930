import {
  anyOf,
  durationCheck,
  type OptionCheck,
  type OptionFields,
  objectOf,
  oneOf,
  textCheck,
  wholeFrom,
} from '../options.ts'

/** A window that follows the calendar of a place rather than the epoch. */
export interface CalendarPeriod {
  /** ISO weeks begin on Monday. */
  readonly calendar: 'day' | 'week' | 'month' | 'year'
  /** IANA zone, such as `Europe/Paris`. Default `UTC`: never the machine's own. */
  readonly zone?: string
  /** When in the period the window opens. Default: its first day, at midnight. */
  readonly anchor?: {
    /** Month of the year, 1–12 (`year` only). */
    readonly month?: number
    /** Day of the month 1–31, held to the month's last day where it is shorter; ISO weekday 1–7 for `week`. */
    readonly day?: number
    /** Local time `HH:MM`; a time that a zone skips becomes the first instant after the gap. */
    readonly time?: string
  }
}

/** What a policy says whatever its algorithm. */
export interface BasePolicy {
  /** By which algorithm. Swapping one for another is one word. */
  readonly algorithm: string
  /** Units per period; a whole number from 0 to 2^53−1. 0 refuses everything. */
  readonly limit: number
  /** Milliseconds, text such as `10s`, or a calendar period. For `concurrency`: how long a slot is held unless released. */
  readonly period: number | string | CalendarPeriod
}

/** What a calendar period may be; which days an anchor may name depends on the calendar. */
export const calendarPeriod: OptionCheck = /* @__PURE__ */ objectOf<CalendarPeriod>(
  {
    calendar: /* @__PURE__ */ oneOf('day', 'week', 'month', 'year'),
    zone: textCheck,
    anchor: /* @__PURE__ */ objectOf<NonNullable<CalendarPeriod['anchor']>>({
      month: /* @__PURE__ */ wholeFrom(1, 12),
      day: /* @__PURE__ */ wholeFrom(1, 31),
      time: textCheck,
    }),
  },
  ['calendar'],
  { what: 'a calendar period, such as { calendar: "day" }' },
)

/** What the fields of a quota may be. */
export const basePolicyFields: OptionFields<Pick<BasePolicy, 'limit' | 'period'>> = {
  limit: /* @__PURE__ */ wholeFrom(0),
  period: /* @__PURE__ */ anyOf(durationCheck, calendarPeriod),
}

/** Names that other libraries have for the same fields. */
export const POLICY_NAMES: Readonly<Record<string, string>> = {
  max: 'limit',
  points: 'limit',
  requests: 'limit',
  windowMs: 'period',
  window: 'period',
  timeWindow: 'period',
  duration: 'period',
  interval: 'period',
  ttl: 'period',
  capacity: 'burst',
}
