import { ConfigError } from '../../errors.ts'
import { checkOptions } from '../../options.ts'
import { type CalendarPeriod, calendarPeriod } from '../policy.ts'
import { type Anchor, type CalendarKind, calendarKinds } from './calendar-kind.ts'
import { clockOf, DAY, firstInstant } from './zone.ts'

const TICKS = 1_000_000

/** From `start` up to, not including, `end`: microseconds since the epoch. */
export interface Window {
  readonly start: number
  readonly end: number
}

/** A calendar period, validated. */
export interface Calendar {
  /** Two periods with the same windows have the same, however their defaults were spelt. */
  readonly id: string
  /** Nominal length in microseconds, for what needs one number: a month is 30 days, a year 365. */
  readonly length: number
  /** The window that holds `now` (microseconds since the epoch). Windows follow one another without gap or overlap. */
  windowAt(now: number): Window
}

/**
 * Windows of a calendar: each opens when the zone's clocks first show its anchor's day and time or later.
 * @throws ConfigError for a calendar, zone or anchor that is none.
 */
export function calendarOf(period: CalendarPeriod): Calendar {
  checkOptions(period, calendarPeriod)
  const { calendar, zone = 'UTC' } = period
  clockOf(zone)
  const kind = calendarKinds[calendar]
  const anchor = anchorOf(period, kind)
  return {
    // What an engine takes a zone for (resolvedOptions) changes with its version; what was written does not.
    id: `calendar-${calendar}@${zone.toLowerCase()}/${anchor.month}-${anchor.day}+${anchor.time}`,
    length: kind.days * DAY * TICKS,
    windowAt: (now) => windowAt(kind, zone, anchor, now),
  }
}

function windowAt(kind: CalendarKind, zone: string, anchor: Anchor, now: number): Window {
  const clock = clockOf(zone) // keeping it would cost each plan 30 kB, to be used once a window
  const opening = (index: number): number =>
    firstInstant(clock, kind.opens(index, anchor) * DAY + anchor.time) * TICKS
  let index = kind.indexOf(clock(Math.floor(now / TICKS)))
  let start = opening(index)
  while (start > now) start = opening(--index)
  let end = opening(++index)
  // Clocks set back show a day again after the next one has begun; a day that a zone skips is empty.
  while (end <= now) [start, end] = [end, opening(++index)]
  return { start, end }
}

function anchorOf({ calendar, anchor = {} }: CalendarPeriod, kind: CalendarKind): Anchor {
  const idle = Object.keys(anchor).find((name) => !kind.anchor.includes(name))
  if (idle !== undefined) {
    throw new ConfigError(
      `the anchor of calendar-${calendar} has no ${show(idle)}; it may have ${kind.anchor.join(', ')}`,
    )
  }
  const month = ordinal('anchor.month', anchor.month ?? 1, 12)
  const day = ordinal('anchor.day', anchor.day ?? 1, kind.lastDay(month))
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(anchor.time ?? '00:00') ?? []
  if (hours === undefined) {
    throw new ConfigError(`anchor.time must be HH:MM, from 00:00 to 23:59, not ${show(anchor.time)}`)
  }
  return { month, day, time: Number(hours) * 3_600 + Number(minutes) * 60 }
}

function ordinal(name: string, value: number, last: number): number {
  if (!Number.isInteger(value) || value < 1 || value > last) {
    throw new ConfigError(`${name} must be a whole number from 1 to ${last}, not ${show(value)}`)
  }
  return value
}

function show(value: unknown): string {
  return JSON.stringify(String(value).slice(0, 40))
}
