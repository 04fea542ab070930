import type { Rule } from '@sluice/limiter/decide'

/** What may be assigned of one counter, at most and all together. */
export interface RlqsQuota {
  /** Tokens that arrive in `seconds`. Whole, from 1. */
  readonly tokens: number
  /** Whole, from 1: Envoy cuts fractions of a second off. */
  readonly seconds: number
  /** Tokens that a full bucket holds. Whole, from 1. */
  readonly burst: number
}

/** Of a token bucket on the wire: numbers of 32 bits. */
const MOST_TOKENS = 2n ** 32n - 1n
/** So many tokens, if the limit has fewer, are taken over a longer time: shares are whole, and so right to a thousandth. */
const FINE_TOKENS = 1_000n
const SECOND = 1_000_000n

/**
 * The rate and burst of a token bucket's plan, for one of `nodes` services that assign it: never above the plan's.
 * `undefined` where that is less than a token, so that nothing can be assigned.
 * @example
 * quotaOf(planOf({ algorithm: 'token-bucket', limit: 100, period: '1s' }), 1)
 * // { tokens: 1000, seconds: 10, burst: 100 }
 */
export function quotaOf(
  { limit, period, unit, capacity }: Pick<Rule['plan'], 'limit' | 'period' | 'unit' | 'capacity'>,
  nodes: number,
): RlqsQuota | undefined {
  const burst = Math.min(Math.floor(capacity / nodes), Number(MOST_TOKENS))
  if (limit === 0 || burst === 0) return undefined
  // `rate` tokens arrive in `ticks` microseconds.
  const rate = BigInt(limit) * SECOND
  const ticks = BigInt(period) * BigInt(unit) * BigInt(nodes)
  let seconds = ticks / divisor(ticks, SECOND)
  const whole = (rate * seconds) / ticks
  if (whole < FINE_TOKENS) seconds *= (FINE_TOKENS + whole - 1n) / (whole || 1n)
  else if (whole > MOST_TOKENS) seconds = largest(1n, (MOST_TOKENS * ticks) / rate)
  const tokens = (rate * seconds) / ticks
  return {
    tokens: Number(tokens > MOST_TOKENS ? MOST_TOKENS : tokens),
    seconds: Number(seconds),
    burst,
  }
}

/** The same tokens of another quota in this one's time, rounded up. */
export function rescaled(tokens: number, from: RlqsQuota, to: RlqsQuota): number {
  if (from.seconds === to.seconds) return tokens
  const seconds = BigInt(from.seconds)
  return Number((BigInt(tokens) * BigInt(to.seconds) + seconds - 1n) / seconds)
}

function divisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : divisor(b, a % b)
}

function largest(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
