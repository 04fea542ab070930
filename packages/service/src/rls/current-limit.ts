import type { Step } from '@sluice/limiter/decide'
import type { MatchedLimit } from '@sluice/limiter/rules'
import { type CurrentLimit, UNITS } from './messages.ts'

const SECOND = 1_000_000
/** Microseconds, by the number of the unit: months have 30 days, years 365. */
const LENGTHS: readonly number[] = [0, 1, 60, 3_600, 86_400, 2_592_000, 31_536_000, 604_800].map(
  (s) => s * SECOND,
)
/** For periods that no file gave a unit: the longest that divides them. */
const BY_LENGTH = [7, 4, 3, 2, 1]
const MOST_UINT32 = 0xffff_ffff

/** A limit as answers repeat it. A period that has no whole seconds has no unit. */
export function currentLimit({ name, unit, requestsPerUnit }: MatchedLimit, { rule }: Step): CurrentLimit {
  const { plan } = rule
  const { period } = plan.source ?? {}
  const length = plan.period * plan.unit
  const number =
    typeof period === 'object'
      ? UNITS.indexOf(period.calendar)
      : unit === undefined
        ? (BY_LENGTH.find((each) => length % LENGTHS[each]! === 0) ?? 0)
        : UNITS.indexOf(unit)
  const multiplier = typeof period === 'object' || number <= 0 ? 1 : length / LENGTHS[number]!
  return {
    requests_per_unit: Math.min(requestsPerUnit, MOST_UINT32),
    unit: Math.max(0, number),
    ...(name !== undefined && { name }),
    ...(multiplier !== 1 && Number.isInteger(multiplier) && { unit_multiplier: { value: multiplier } }),
  }
}

/**
 * Whole seconds, rounded up, since Envoy cuts off the rest: until all of the limit is there again, and on a refusal not
 * less than the wait. Windows that all keys share have an end also where nothing is in use. Undefined where none is known.
 * @param at the store's clock, in microseconds
 */
export function secondsUntilReset(
  { rule: { plan }, phase = 0 }: Step,
  { allowed, resetAfterMs, retryAfterMs }: ResetFigures,
  at: number,
): number | undefined {
  const wait = Math.max(resetAfterMs ?? 0, allowed ? 0 : (retryAfterMs ?? 0))
  if (wait > 0) return Math.ceil(wait / 1_000)
  if (plan.algorithm.traits.aligned !== true) return resetAfterMs === null ? undefined : 0
  const length = plan.period * plan.unit
  const into = (((at - phase) % length) + length) % length
  return Math.ceil((length - into) / SECOND)
}

interface ResetFigures {
  readonly allowed: boolean
  readonly resetAfterMs: number | null
  readonly retryAfterMs: number | null
}
