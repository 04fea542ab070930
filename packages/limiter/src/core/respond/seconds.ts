import { integer } from './structured-field.ts'

/** Whole seconds of a duration in milliseconds, rounded up: 29,001 ms are 30. */
export function secondsUp(ms: number): number {
  return integer(Math.ceil(ms / 1_000))
}

/** The instant `ms` after `nowMs`, as whole seconds since the epoch, rounded up. */
export function epochSeconds(nowMs: number, ms: number): number {
  return secondsUp(nowMs + ms)
}

/** A window that headers can state: whole seconds, at least 1; undefined for any other, and for none. */
export function wholeWindow(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds >= 1 && integer(seconds) === seconds ? seconds : undefined
}
