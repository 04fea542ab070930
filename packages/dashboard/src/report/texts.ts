import type { LimitFigures, QuotaFigures, Timeline } from '@sluice/lab'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const UNITS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [SECOND, 'second'],
] as const

/** `1,000`. */
export function countText(value: number): string {
  return value.toLocaleString('en-US')
}

/** `1 request`, `2 requests`. */
export function countOf(value: number, noun: string): string {
  return `${countText(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** As the command line writes a share. */
export function shareOfAll(part: number, all: number): string {
  const percent = all === 0 ? 0 : (part / all) * 100
  return percent > 0 && percent < 0.01 ? 'under 0.01 %' : `${percent.toFixed(2)} %`
}

/** `10 seconds`, `1 hour`. */
export function lengthText(ms: number): string {
  const [size, unit] = UNITS.find(([each]) => ms >= each && ms % each === 0) ?? [1, 'ms']
  const count = ms / size
  return unit === 'ms' ? `${countText(count)} ms` : countOf(count, unit)
}

/** `10 seconds`, `hour`: behind "each" and "per". */
export function spanText(ms: number): string {
  return lengthText(ms).replace(/^1 (?=\D+$)(?!ms)/, '')
}

/** `5 per minute`, of one key or of everybody together. */
export function quotaText({ limit, capacity, periodMs, calendar, holds }: QuotaFigures): string {
  if (holds) return `${countText(limit)} at a time`
  const burst = capacity === limit ? '' : `, ${countText(capacity)} at once`
  if (calendar !== undefined) return `${countText(limit)} per calendar ${calendar}${burst}`
  return `${countText(limit)} per ${spanText(periodMs)}${burst}`
}

/** What a limit does with a request that is over it. */
export function roleText(quotas: readonly QuotaFigures[]): string {
  const roles = new Set(quotas.map(({ role }) => role))
  if (roles.has('shadow')) return 'shadow: refuses nothing'
  if (roles.has('deprioritize')) return 'lowers the priority: refuses nothing'
  return roles.has('quota') ? 'refuses with the other quotas' : 'refuses'
}

/** Whether a limit has one bucket for everybody. */
export function countsTogether({ keys, top }: LimitFigures): boolean {
  return keys === 1 && top[0]?.key === ''
}

/** A key as it is shown: rules for everybody together have an empty one. */
export function keyLabel(key: string): string {
  return key === '' ? '(everyone together)' : key
}

/** Times before 1980 count from the log's own origin, as the column t_ms of a CSV does. */
const EARLIEST = Date.UTC(1980)

/** `17 May 2015 10:05`, in UTC, or the time since the log's origin. */
export function instantText(ms: number, width = MINUTE): string {
  const isFine = width < MINUTE
  if (ms < EARLIEST) return elapsedText(ms, isFine)
  const clock = new Date(ms).toISOString().slice(11, isFine ? 19 : 16)
  return width >= DAY ? dayText(ms, true) : `${dayText(ms, true)} ${clock}`
}

/** An instant of the JSON, to the second: `17 May 2015 10:05:03`, in UTC, or the time since the log's origin. */
export function clockText(iso: string, isMinute = false): string {
  return instantText(Date.parse(iso), isMinute ? MINUTE : SECOND)
}

/** A mark of a time axis: the day where a day begins. */
export function tickText(ms: number, width: number): string {
  if (ms < EARLIEST) return elapsedText(ms, width < MINUTE)
  if (width >= DAY || ms % DAY === 0) return dayText(ms, false)
  return new Date(ms).toISOString().slice(11, width < MINUTE ? 19 : 16)
}

/** Whether times are those of a clock. */
export function hasClock({ start }: Pick<Timeline, 'start'>): boolean {
  return start >= EARLIEST
}

function dayText(ms: number, withYear: boolean): string {
  const [, day, month, year] = new Date(ms).toUTCString().split(' ')
  return withYear ? `${Number(day)} ${month} ${year}` : `${Number(day)} ${month}`
}

function elapsedText(ms: number, isFine: boolean): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const clock = `${Math.floor(ms / HOUR)}:${two((ms % HOUR) / MINUTE)}`
  return isFine ? `${clock}:${two((ms % MINUTE) / SECOND)}` : clock
}
