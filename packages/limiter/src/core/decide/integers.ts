import { ConfigError } from '../errors.ts'

/** The largest product any algorithm may form. */
export const MAX: number = Number.MAX_SAFE_INTEGER

/**
 * ⌊a / b⌋ for whole 0 ≤ a ≤ MAX, b ≥ 1. Exact although the quotient is rounded: a quotient that is no integer k
 * lies at least 1/b from it, and that is more than half the spacing of doubles at k, for k·b < 2^53.
 */
export function floorDiv(a: number, b: number): number {
  return Math.floor(a / b)
}

/** ⌈a / b⌉ for whole 0 ≤ a ≤ MAX, b ≥ 1; exact for the same reason. */
export function ceilDiv(a: number, b: number): number {
  return Math.ceil(a / b)
}

/** a mod b, likewise: `%` on numbers past 2^31 takes several times as long. */
export function remainder(a: number, b: number): number {
  return a - Math.floor(a / b) * b
}

/**
 * The value, where it is a whole number from `min` to 2^53−1.
 * @param name what the error calls it
 * @throws ConfigError where it is not
 * @example
 * const burst = wholeNumber('burst', options.burst, 1)
 */
export function wholeNumber(name: string, value: unknown, min: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min) {
    throw new ConfigError(`${name} must be a whole number from ${min} to 2^53−1, not ${String(value)}`, {
      path: [name],
    })
  }
  return value
}

/**
 * The finest unit (1 µs, 1 ms, 1 s) in which `factor · period` stays below 2^53.
 * @throws ConfigError when none does, or the period is not whole in the one that would.
 */
export function unitFor(factor: number, periodTicks: number): number {
  for (const unit of [1, 1_000, 1_000_000]) {
    if (periodTicks % unit === 0 && factor * (periodTicks / unit) <= MAX) return unit
  }
  throw new ConfigError(
    `${factor} units over ${periodTicks} µs cannot be kept exactly: the product passes 2^53−1 even in seconds`,
  )
}
