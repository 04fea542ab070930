import { integer } from './structured-field.ts'

/** Whole seconds of a duration in milliseconds, rounded up: 29,001 ms are 30. */
export function secondsUp(ms: number): number {
  return integer(Math.ceil(ms / 1_000))
}

/**
 * The instant `ms` after `nowMs`, as whole seconds since the epoch, rounded up. The seconds of `nowMs` are kept out of
 * the sum, where they would leave too few bits for a fraction.
 */
export function epochSeconds(nowMs: number, ms: number): number {
  const part = nowMs % 1_000
  return integer((nowMs - part) / 1_000 + secondsUp(part + ms))
}

/** Milliseconds of a duration in seconds, up to 2^53 − 1. */
export function millisecondsOf(seconds: number): number {
  return Math.min(seconds * 1_000, Number.MAX_SAFE_INTEGER)
}

/** Milliseconds from `nowMs` until an instant in seconds since the epoch; 0 when it has passed. */
export function millisecondsUntil(epochSeconds: number, nowMs: number): number {
  return Math.min(Math.max(0, epochSeconds * 1_000 - nowMs), Number.MAX_SAFE_INTEGER)
}

/** A window that headers can state: whole seconds, at least 1; undefined for any other, and for none. */
export function wholeWindow(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds >= 1 && integer(seconds) === seconds ? seconds : undefined
}
