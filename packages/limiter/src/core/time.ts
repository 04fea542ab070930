import { ConfigError, type FieldPath } from './errors.ts'

/** One tick: a microsecond. All arithmetic of time is in whole ticks, below 2^53. */
export const TICKS_PER_MS = 1_000

type Unit = 'us' | 'ms' | 's' | 'm' | 'h' | 'd' | 'w' | LongUnit | `${LongUnit}s`
type LongUnit = 'second' | 'min' | 'minute' | 'hour' | 'day' | 'week'
type DurationText = Unit | `${number}${'' | ' '}${Unit}`

/**
 * A duration as text. A literal that is none, such as `'1 month'`, does not compile; a variable of type `string` does,
 * and is checked when it is used.
 */
export type Duration<Text extends string = string> = Text &
  (string extends Text ? string : Text extends DurationText ? Text : DurationText)

const TICKS_PER_UNIT: Readonly<Record<string, number>> = {
  us: 1,
  ms: 1_000,
  s: 1_000_000,
  second: 1_000_000,
  m: 60_000_000,
  min: 60_000_000,
  minute: 60_000_000,
  h: 3_600_000_000,
  hour: 3_600_000_000,
  d: 86_400_000_000,
  day: 86_400_000_000,
  w: 604_800_000_000,
  week: 604_800_000_000,
}

const DURATION = /^(\d+(?:\.\d+)?)?\s*([a-z]+)$/

/**
 * Microseconds of a duration: a number of milliseconds, or text such as `10s`, `1.5h`, `500ms`, `week`.
 * @param path where the duration stands, for the error
 * @throws ConfigError when it is not a positive, whole number of microseconds below 2^53
 * @example
 * ticksOf('1.5h') // 5400000000
 * ticksOf(250) // 250000
 */
export function ticksOf(duration: number | string, path?: FieldPath): number {
  const ticks =
    typeof duration === 'string'
      ? ticksOfText(duration, path)
      : exactTicks(typeof duration === 'number' ? duration : Number.NaN, TICKS_PER_MS)
  if (!(ticks > 0 && Number.isSafeInteger(ticks))) {
    throw new ConfigError(
      `${show(duration)} is not a duration: it must be more than 0, below 2^53 microseconds, and whole microseconds`,
      path && { path },
    )
  }
  return ticks
}

function ticksOfText(text: string, path: FieldPath | undefined): number {
  const [, count = '1', name = ''] = DURATION.exec(text.trim().toLowerCase()) ?? []
  // A plural only where the rest is a word: `ms` is not several `m`.
  const unit = Object.hasOwn(TICKS_PER_UNIT, name) ? name : name.replace(/(?<=...)s$/, '')
  const size = Object.hasOwn(TICKS_PER_UNIT, unit) ? TICKS_PER_UNIT[unit] : undefined
  if (size === undefined) {
    const uneven = /^(month|year)s?$/.exec(name)?.[1]
    throw new ConfigError(
      `${show(text)} is not a duration: ${uneven === undefined ? 'write milliseconds, or text like 500ms, 10s, 5m, 3h, 1d, 2w' : `a ${uneven} has no fixed length; write days, such as 30d, or as a period { calendar: "${uneven}" }`}`,
      path && { path },
    )
  }
  return exactTicks(Number(count), size)
}

/** `count · size`, with the float dust of fractions such as 0.001 · 1000 brushed off, and nothing else. */
function exactTicks(count: number, size: number): number {
  const ticks = count * size
  const whole = Math.round(ticks)
  return Math.abs(ticks - whole) <= Math.abs(ticks) * Number.EPSILON * 4 ? whole : ticks
}

function show(value: number | string): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value)
}
