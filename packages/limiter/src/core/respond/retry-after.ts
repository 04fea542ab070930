import { imfFixdate, readHttpDate } from './http-date.ts'
import { millisecondsOf, millisecondsUntil, secondsUp } from './seconds.ts'

/** The last second that an IMF-fixdate can write: 31 Dec 9999 23:59:59 GMT. */
const LAST_DATE = 253_402_300_799

/** Seconds, with a fraction or not; several from one line each are joined with commas. */
const SECONDS = /^\d+(?:\.\d+)?(?:[ \t]*,[ \t]*\d+(?:\.\d+)?)*$/

/** The longest value that is read: no date is longer, and no list that means anything. */
const MAX_RETRY_AFTER_LENGTH = 100

/** The wait that a refusal tells: whole seconds, rounded up, at least 1; undefined when no wait helps. */
export function retrySeconds(waitMs: number | null): number | undefined {
  return waitMs === null ? undefined : Math.max(1, secondsUp(waitMs))
}

/**
 * The value of Retry-After (RFC 9110 §10.2.3). As a date it counts from the end of the current second, so that it
 * is never before `seconds` have passed. A date past the year 9999 is sent as seconds.
 */
export function retryAfter(seconds: number, form: 'seconds' | 'date', nowMs: number): string {
  const date = secondsUp(nowMs) + seconds
  return form === 'date' && date <= LAST_DATE ? imfFixdate(date) : `${seconds}`
}

/**
 * The wait that a value of Retry-After asks for, in milliseconds, 0 to 2^53 − 1; undefined where it is not understood.
 * Seconds may have a fraction, and of several the longest counts. A date (RFC 9110 §5.6.7, in any of its three forms)
 * that has passed is 0.
 * @param nowMs the reader's wall clock, milliseconds since the epoch
 * @param date the answer's own `Date`: where it is given, a date counts from it, since the two clocks may differ
 * @example
 * readRetryAfter('120', Date.now()) // 120000
 */
export function readRetryAfter(value: string, nowMs: number, date?: string): number | undefined {
  if (typeof value !== 'string' || value.length > MAX_RETRY_AFTER_LENGTH) return undefined
  const text = value.trim()
  if (SECONDS.test(text)) return millisecondsOf(Math.max(...text.split(',').map(Number)))
  const until = readHttpDate(text, nowMs)
  if (until === undefined) return undefined
  const from = date === undefined ? undefined : readHttpDate(date.trim(), nowMs)
  return millisecondsUntil(until, from === undefined ? nowMs : from * 1_000)
}
