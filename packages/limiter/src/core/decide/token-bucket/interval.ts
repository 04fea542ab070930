import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { ceilDiv, floorDiv, MAX, remainder, unitFor, wholeNumber } from '../integers.ts'
import { type BucketOptions, bucketOptions } from '../level.ts'
import { periodTicks } from '../period.ts'

/**
 * A token bucket whose `limit` tokens arrive together, at whole periods counted from the charge that found the bucket
 * full: a full bucket means the same as no state. In any interval I it admits at most burst + limit·(⌊I/period⌋ + 1).
 *
 * Cells: last admission, tokens out, instant of the charge that found the bucket full.
 */
export const intervalBucket: Algorithm<Plan, BucketOptions> = {
  name: 'token-bucket',
  traits: {},
  options: bucketOptions,
  plan(policy) {
    const limit = wholeNumber('limit', policy.limit, 0)
    const capacity = policy.burst ?? limit
    const ticks = periodTicks(policy)
    const ceiling = Math.min(capacity * 2, MAX)
    const unit = unitFor(limit === 0 ? 1 : ceilDiv(ceiling, limit) + 1, ticks)
    const period = ticks / unit
    return {
      algorithm: intervalBucket,
      kind: `token-bucket-interval/${period}/${unit}`,
      capacity,
      limit,
      period,
      unit,
      size: 3,
      ceiling,
    }
  },
  remaining: (plan, cells, offset, now) => plan.capacity - out(plan, cells, offset, now),
  wait(plan, cells, offset, now, cost, left) {
    if (cost <= left) return 0
    if (plan.limit === 0) return Number.POSITIVE_INFINITY
    const arrivals = ceilDiv(cost - left, plan.limit)
    return arrivals * plan.period - remainder(now - cells[offset + 2]!, plan.period)
  },
  charge(plan, cells, offset, now, cost, _chargeId, left) {
    const taken = plan.capacity - left
    if (taken === 0) cells[offset + 2] = now
    cells[offset + 1] = taken + Math.min(cost, plan.ceiling - taken)
  },
  /** As refundLevel in level.ts: never more than can still be out of a charge that old. */
  refund(plan, cells, offset, now, cost, charged) {
    const anchor = cells[offset + 2]!
    if (charged < anchor) return
    const left = plan.capacity - Math.max(0, boundaries(plan, anchor, charged, now)) * plan.limit
    if (left > 0) cells[offset + 1] = Math.max(0, cells[offset + 1]! - Math.min(cost, left))
  },
}

/** Tokens out at `now`: those out at the last admission, less what arrived at each boundary passed since. */
function out(plan: Plan, cells: Cells, offset: number, now: number): number {
  const taken = Math.min(cells[offset + 1]!, plan.ceiling)
  const arrived = boundaries(plan, cells[offset + 2]!, cells[offset]!, now) * plan.limit // may pass 2^53, but then exceeds any debt
  return arrived >= taken ? 0 : taken - arrived
}

function boundaries(plan: Plan, anchor: number, from: number, to: number): number {
  return floorDiv(to - anchor, plan.period) - floorDiv(from - anchor, plan.period)
}
