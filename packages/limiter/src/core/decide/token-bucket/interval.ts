import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { ceilDiv, floorDiv, MAX, remainder, unitFor, wholeNumber } from '../integers.ts'
import { periodTicks, refuseOptions } from '../period.ts'
import type { Policy } from '../policy.ts'

/**
 * A token bucket whose `limit` tokens arrive together, at whole periods counted from the key's first charge.
 * In any interval I it admits at most burst + limit·(⌊I/period⌋ + 1).
 *
 * Cells: last admission, tokens out, instant of the first charge. The last keeps its phase for as long as the
 * store keeps the state; a full bucket may be dropped, and its next charge then begins a new phase.
 */
export const intervalBucket: Algorithm = {
  name: 'token-bucket',
  plan(policy: Policy): Plan {
    refuseOptions(policy, 'rounding')
    const limit = wholeNumber('limit', policy.limit, 0)
    const capacity = policy.burst === undefined ? limit : wholeNumber('burst', policy.burst, 1)
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
  remaining: (plan, cells, at, now) => plan.capacity - out(plan, cells, at, now),
  wait(plan, cells, at, now, cost, left) {
    if (cost <= left) return 0
    if (plan.limit === 0) return Number.POSITIVE_INFINITY
    const arrivals = ceilDiv(cost - left, plan.limit)
    return arrivals * plan.period - remainder(now - cells[at + 2]!, plan.period)
  },
  charge(plan, cells, at, now, cost, _lease, left) {
    const taken = plan.capacity - left
    if (cells[at] === 0 && cells[at + 1] === 0 && cells[at + 2] === 0) cells[at + 2] = now
    cells[at + 1] = taken + Math.min(cost, plan.ceiling - taken)
  },
  /** As refundLevel in level.ts: never more than can still be out of a charge that old. */
  refund(plan, cells, at, now, cost, charged) {
    const anchor = cells[at + 2]!
    if (charged < anchor) return
    const left = plan.capacity - Math.max(0, boundaries(plan, anchor, charged, now)) * plan.limit
    if (left > 0) cells[at + 1] = Math.max(0, out(plan, cells, at, cells[at]!) - Math.min(cost, left))
  },
}

/** Tokens out at `now`: those out at the last admission, less what arrived at each boundary passed since. */
function out(plan: Plan, cells: Cells, at: number, now: number): number {
  const taken = Math.min(cells[at + 1]!, plan.ceiling)
  const arrived = boundaries(plan, cells[at + 2]!, cells[at]!, now) * plan.limit // may pass 2^53, but then exceeds any debt
  return arrived >= taken ? 0 : taken - arrived
}

function boundaries(plan: Plan, anchor: number, from: number, to: number): number {
  return floorDiv(to - anchor, plan.period) - floorDiv(from - anchor, plan.period)
}
