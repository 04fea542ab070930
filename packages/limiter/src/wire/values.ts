import { wrong } from './mistake.ts'
import { type Check, isTextOf } from './read.ts'

/** Text of a bounded length. */
export const TEXT: Check<string> = (value, { maxTextLength }) =>
  isTextOf(value, maxTextLength) ? undefined : wrong(`text of at most ${maxTextLength} characters`)

const ODD_IN_DOMAIN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u

/** Characters of a domain's name. */
const MAX_DOMAIN = 256

/** The name of a domain: it stands in logs and in messages, so it is short, and one line. */
export const DOMAIN: Check<string> = (value, { maxTextLength }) => {
  const most = Math.min(maxTextLength, MAX_DOMAIN)
  return isTextOf(value, most) && !ODD_IN_DOMAIN.test(value)
    ? undefined
    : wrong(`text of at most ${most} characters, without control characters`)
}

/**
 * A number, or text of a bounded length. Of numbers only those that JavaScript keeps exactly: two ids of 64 bits
 * may become one number, and then two callers would share a limit.
 */
export const NUMBER_OR_TEXT: Check<string | number> = (value, { maxTextLength }) => {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value)
      ? undefined
      : wrong('a whole number from −(2^53−1) to 2^53−1; send any other number as text')
  }
  return isTextOf(value, maxTextLength)
    ? undefined
    : wrong(`a number, or text of at most ${maxTextLength} characters`)
}

/** @param shown the most, as messages write it */
export function wholeCheck(least: number, most: number, shown: string = String(most)): Check<number> {
  return (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
      ? undefined
      : wrong(`a whole number from ${least} to ${shown}`)
}

export const COST: Check<number> = wholeCheck(0, Number.MAX_SAFE_INTEGER, '2^53−1')

export const ANYTHING: Check<unknown> = () => undefined

export const ANY_TEXT: Check<string> = (value) => (typeof value === 'string' ? undefined : wrong('text'))

export const FINITE: Check<number> = (value) => (Number.isFinite(value) ? undefined : wrong('a number'))

export const FINITE_OR_NULL: Check<number | null> = (value) =>
  value === null || Number.isFinite(value) ? undefined : wrong('a number or null')

export const FLAG: Check<boolean> = (value) =>
  typeof value === 'boolean' ? undefined : wrong('true or false')

/** One of these values and no other. */
export function exactly<T extends string | number | true>(...expected: readonly T[]): Check<T> {
  const shown = expected.map((each) => JSON.stringify(each)).join(' or ')
  return (value) => (expected.includes(value as T) ? undefined : wrong(shown))
}
