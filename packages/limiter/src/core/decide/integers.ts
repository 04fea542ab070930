import { ConfigError } from '../errors.ts'

/** The largest product any algorithm may form. */
export const MAX: number = Number.MAX_SAFE_INTEGER

/** ⌊a / b⌋ for whole 0 ≤ a ≤ MAX, b ≥ 1: the float quotient may be one too high, never more. */
export function floorDiv(a: number, b: number): number {
  const q = Math.floor(a / b)
  return q * b > a ? q - 1 : q
}

/** ⌈a / b⌉ for whole 0 ≤ a ≤ MAX, b ≥ 1: the float quotient may be one too low, never more. */
export function ceilDiv(a: number, b: number): number {
  const q = Math.ceil(a / b)
  return q * b < a ? q + 1 : q
}

/** @throws ConfigError unless `value` is a whole number from `min` to 2^53−1. */
export function wholeNumber(name: string, value: unknown, min: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min) {
    throw new ConfigError(`${name} must be a whole number from ${min} to 2^53−1, not ${String(value)}`)
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
