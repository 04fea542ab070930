import type { Algorithm, Cells, Plan } from './algorithm.ts'
import { ceilDiv, floorDiv, MAX, unitFor, wholeNumber } from './integers.ts'
import { type OptionValues, type WholeOption, whole } from './option.ts'
import { periodTicks } from './period.ts'
import type { BasePolicy } from './policy.ts'

/** What a bucket's policy may say beside its limit and period. */
export type BucketOptions = {
  /** Capacity of the bucket; a whole number from 1 to 2^53−1. Default: `limit`. */
  readonly burst: WholeOption
}
export const bucketOptions: BucketOptions = { burst: whole(1, 'Capacity of a bucket. Default: the limit.') }

/**
 * The exact level shared by everything that flows continuously: token bucket, GCRA and leaky bucket differ in
 * what they call it, not in its arithmetic.
 *
 * `cells[offset + 1]` is the level in use, in 1/period of a unit, so that one unit of time drains exactly `limit` of
 * it. It does not depend on the limit: a changed limit keeps what was used.
 */
export function levelPlan(
  algorithm: Algorithm,
  policy: BasePolicy & OptionValues<BucketOptions>,
  size = 2,
): Plan {
  const limit = wholeNumber('limit', policy.limit, 0)
  const capacity = policy.burst ?? limit
  const ticks = periodTicks(policy)
  const unit = unitFor(Math.max(capacity, limit, 1), ticks)
  const period = ticks / unit
  return {
    algorithm,
    kind: `${algorithm.name}/${period}/${unit}`,
    capacity,
    limit,
    period,
    unit,
    size,
    ceiling: Math.min(capacity * 2, floorDiv(MAX, period)),
  }
}

/** The level at `now`. A level left by a larger limit is held to the debt that this plan allows. */
export function levelAt(plan: Plan, cells: Cells, offset: number, now: number): number {
  const level = Math.min(cells[offset + 1]!, plan.ceiling * plan.period)
  const drained = (now - cells[offset]!) * plan.limit // may pass 2^53 after a long idle, but then exceeds any level
  return drained >= level ? 0 : level - drained
}

export function remainingLevel(plan: Plan, cells: Cells, offset: number, now: number): number {
  const level = levelAt(plan, cells, offset, now)
  const full = plan.capacity * plan.period
  return level <= full ? floorDiv(full - level, plan.period) : -ceilDiv(level - full, plan.period)
}

/** ⌈(level + cost·period − capacity·period) / limit⌉: exact, or never where nothing drains. */
export function waitLevel(plan: Plan, cells: Cells, offset: number, now: number, cost: number): number {
  const excess = levelAt(plan, cells, offset, now) - (plan.capacity - cost) * plan.period
  if (excess <= 0) return 0
  return plan.limit === 0 ? Number.POSITIVE_INFINITY : ceilDiv(excess, plan.limit)
}

export function chargeLevel(plan: Plan, cells: Cells, offset: number, now: number, cost: number): void {
  const level = levelAt(plan, cells, offset, now)
  const room = plan.ceiling * plan.period - level
  cells[offset + 1] = cost > plan.ceiling ? level + room : level + Math.min(cost * plan.period, room)
}

/**
 * Never more than can still be there of a charge that old (at its end the bucket held at most its capacity, and
 * `limit` has drained since each unit of time), and never below empty: so no refund mints. 5 of a full bucket of
 * 10 at 1 a second, given back after 7 s, come to 3.
 *
 * Done at the last admission, whose instant stays: what is drained since is drained once.
 */
export function refundLevel(
  plan: Plan,
  cells: Cells,
  offset: number,
  now: number,
  cost: number,
  charged: number,
): void {
  const given = refundable(plan, now, cost, charged)
  if (given > 0) cells[offset + 1] = Math.max(0, cells[offset + 1]! - given)
}

/** How much of the level a refund may give back. */
export function refundable(
  { capacity, period, limit }: Plan,
  now: number,
  cost: number,
  charged: number,
): number {
  const left = Math.max(0, capacity * period - Math.max(0, now - charged) * limit)
  return cost >= capacity ? left : Math.min(cost * period, left)
}
