import { readHttpDate } from '@sluice/limiter/respond'

const MOST = Number.MAX_SAFE_INTEGER
const NUMBER = /^\d{1,400}(?:\.\d{1,400})?$/
/**
 * From these sizes on a number is an instant since the epoch, with so many milliseconds to the unit: seconds from the
 * year 2001 on, milliseconds, microseconds, nanoseconds up to the year 5138 and longer.
 */
const EPOCHS = [
  [1e17, 1e-6],
  [1e14, 1e-3],
  [1e12, 1],
  [1e9, 1_000],
] as const

/** Durations as Go prints them: `6m0s`, `1h2m3.5s`, `20ms`. */
const GO_DURATION = /^(?:\d{1,15}(?:\.\d{1,15})?(?:h|ms|m|s|us|µs|ns)){1,8}$/
const GO_PART = /([\d.]+)([a-zµ]+)/g
const GO_UNITS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
}

/** RFC 3339, with a blank for the T too; and what JavaScript's `Date.toString()` gives. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:?\d\d)$/
const DATE_STRING =
  /^([A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4})(?: \([^)]{0,99}\))?$/

/** The longest text that is read. */
const MAX_LENGTH = 1_000

/**
 * Milliseconds until the time that a header states, in any form that servers use: seconds from now, an
 * instant since the epoch (known by its size: 10^9 seconds from now would be 31 years), a duration such as `6m0s`,
 * RFC 3339, an HTTP date. 0 when it has passed; undefined for any other text. Of several, joined with commas, the
 * longest counts.
 * @param serverMs the server's wall clock when it answered, milliseconds since the epoch
 */
export function statedWait(text: string, serverMs: number): number | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const whole = waitOf(text.trim(), serverMs)
  if (whole !== undefined || !text.includes(',')) return whole
  const waits = text.split(',').map((part) => waitOf(part.trim(), serverMs))
  return waits.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined)
}

function waitOf(text: string, serverMs: number): number | undefined {
  if (NUMBER.test(text)) {
    const value = Number(text)
    for (const [from, unit] of EPOCHS) if (value >= from) return until(value * unit, serverMs)
    return value * 1_000
  }
  if (GO_DURATION.test(text)) return goDuration(text)
  const date = dateOf(text, serverMs)
  return date === undefined ? undefined : until(date, serverMs)
}

/** Milliseconds of a number of milliseconds, as `retry-after-ms` has it. */
export function statedMilliseconds(text: string): number | undefined {
  const digits = text.trim()
  return NUMBER.test(digits) ? Math.min(Number(digits), MOST) : undefined
}

function goDuration(text: string): number {
  let ms = 0
  for (const [, digits, unit] of text.matchAll(GO_PART)) ms += Number(digits) * GO_UNITS[unit!]!
  return Math.min(ms, MOST)
}

/** Milliseconds since the epoch. */
function dateOf(text: string, serverMs: number): number | undefined {
  const own = RFC_3339.test(text) ? text : DATE_STRING.exec(text)?.[1]
  if (own !== undefined) {
    const ms = Date.parse(own)
    return Number.isNaN(ms) ? undefined : ms
  }
  const seconds = readHttpDate(text, serverMs)
  return seconds === undefined ? undefined : seconds * 1_000
}

function until(ms: number, serverMs: number): number {
  return Math.min(Math.max(0, ms - serverMs), MOST)
}
