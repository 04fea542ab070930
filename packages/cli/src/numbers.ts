import { ticksOf } from '@sluice/limiter/time'
import { UsageError } from './usage-error.ts'

/** A number of an option, of a range. @throws UsageError */
export function numberIn(
  option: string,
  text: string | undefined,
  [least, most]: readonly [number, number],
): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() !== '' && value >= least && value <= most) return value
  throw new UsageError(`--${option} must be a number from ${least} to ${most}, not ${JSON.stringify(text)}`)
}

/** A duration of an option, such as `10s`, in milliseconds. @throws UsageError */
export function timeIn(
  option: string,
  text: string | undefined,
  [leastMs, mostMs]: readonly [number, number],
): number | undefined {
  if (text === undefined) return undefined
  const ms = millisecondsIn(text)
  if (ms !== undefined && ms >= leastMs && ms <= mostMs) return ms
  throw new UsageError(
    `--${option} must be a time from ${leastMs}ms to ${mostMs / 1_000}s, such as 10s, not ${JSON.stringify(text)}`,
  )
}

/** `COUNT/PERIOD`, such as `10/2s`. @throws UsageError */
export function quotaIn(option: string, text: string): { readonly limit: number; readonly period: string } {
  const [, count, period = ''] = /^(\d{1,9})\/(.+)$/.exec(text) ?? []
  if (count !== undefined && Number(count) > 0 && millisecondsIn(period) !== undefined)
    return { limit: Number(count), period }
  throw new UsageError(`--${option} must be COUNT/PERIOD, such as 10/2s, not ${JSON.stringify(text)}`)
}

export function millisecondsIn(text: string): number | undefined {
  try {
    return ticksOf(text) / 1_000
  } catch {
    return undefined
  }
}
