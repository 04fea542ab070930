import type { HeaderLookup } from './dialect.ts'
import { millisecondsOf, millisecondsUntil } from './seconds.ts'

/** The longest header text that is read, in characters: what servers commonly allow for all headers together. */
const MAX_HEADER_LENGTH = 16_384

/** Digits, with a fraction or not, up to the end, or to what a list or a parameter adds. */
const NUMBER = /^[ \t]*(\d+(?:\.\d+)?)[ \t]*(?:$|[,;])/

/** A header's value; undefined where it is absent, or longer than 16 KiB. */
export function textAt(headers: HeaderLookup, name: string): string | undefined {
  const text = headers(name)
  return typeof text === 'string' && text.length <= MAX_HEADER_LENGTH ? text : undefined
}

/**
 * The number that a header begins with, such as the 100 of `100, 100;w=60`: not negative, up to 2^53 − 1, perhaps with
 * a fraction. Undefined for any other text.
 */
function numberAt(headers: HeaderLookup, name: string): number | undefined {
  const digits = NUMBER.exec(textAt(headers, name) ?? '')?.[1]
  return digits === undefined ? undefined : Math.min(Number(digits), Number.MAX_SAFE_INTEGER)
}

/**
 * The same as a count: part of a unit is of no use, so it is rounded down.
 * @example
 * const left = countAt(headers, 'X-RateLimit-Remaining') // 3
 */
export function countAt(headers: HeaderLookup, name: string): number | undefined {
  const number = numberAt(headers, name)
  return number === undefined ? undefined : Math.floor(number)
}

/**
 * Milliseconds of a duration that a header gives in seconds.
 * @example
 * const reset = durationAt(headers, 'X-RateLimit-Reset') // 30000
 */
export function durationAt(headers: HeaderLookup, name: string): number | undefined {
  const seconds = numberAt(headers, name)
  return seconds === undefined ? undefined : millisecondsOf(seconds)
}

/** Milliseconds from `nowMs` until the instant that a header gives in seconds since the epoch; 0 when it has passed. */
export function untilAt(headers: HeaderLookup, name: string, nowMs: number): number | undefined {
  const instant = numberAt(headers, name)
  return instant === undefined ? undefined : millisecondsUntil(instant, nowMs)
}
