import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { NEVER } from '../figures.ts'
import { ceilDiv, floorDiv, MAX, remainder, unitFor, wholeNumber } from '../integers.ts'
import { type BucketOptions, bucketOptions } from '../level.ts'
import { keepLeft } from '../one-call.ts'
import { periodTicks } from '../period.ts'

/**
 * A token bucket whose `limit` tokens arrive together, at whole periods counted from the charge that found the bucket
 * full: a full bucket means the same as no state. In any interval I it admits at most burst + limit·(⌊I/period⌋ + 1).
 *
 * Cells: last admission, tokens out, and below 0 the instant of the charge that found the bucket full, in microseconds.
 * From 0 on the last one is what the greedy bucket (level.ts) left there: a part of one more token. Periods then count
 * from the last admission.
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
      kind: `token-bucket/${ticks}`,
      capacity,
      limit,
      period,
      unit,
      size: 3,
      ceiling,
    }
  },
  remaining: (plan, cells, offset, last, now) => plan.capacity - out(plan, cells, offset, last, now),
  wait(plan, cells, offset, last, now, cost, left) {
    if (cost <= left) return 0
    return arrival(plan, cost - left, remainder(now - anchorOf(plan, cells, offset, last), plan.period))
  },
  charge,
  /** As refundLevel in level.ts: never more than can still be out of a charge that old. */
  refund(plan, cells, offset, last, now, cost, charged) {
    const anchor = anchorOf(plan, cells, offset, last)
    if (charged < anchor && cells[offset + 2]! < 0) return
    const left = plan.capacity - Math.max(0, arrived(plan, anchor, charged, now))
    if (left > 0) cells[offset + 1] = Math.max(0, cells[offset + 1]! - Math.min(cost, left))
  },
  read(plan, reading, cost) {
    const { cells, offset, last, now } = reading
    keepLeft(reading, plan.capacity - out(plan, cells, offset, last, now), cost)
  },
  answer(plan, reading, cost, charges) {
    const { cells, offset, now } = reading
    const { capacity, period } = plan
    let { last } = reading
    if (charges) {
      charge(plan, cells, offset, last, now, cost, 0, reading.left)
      last = now
      reading.left -= cost
    }
    const { left } = reading
    const remaining = Math.max(left, 0)
    const full = remaining >= capacity
    const gone = remainder(now - anchorOf(plan, cells, offset, last), period)
    reading.retry = reading.allowed ? 0 : cost > capacity ? NEVER : arrival(plan, cost - left, gone)
    reading.more = full ? NEVER : arrival(plan, remaining + 1 - left, gone)
    reading.reset = full ? 0 : arrival(plan, capacity - left, gone)
  },
}

function charge(
  plan: Plan,
  cells: Cells,
  offset: number,
  last: number,
  now: number,
  cost: number,
  _chargeId: number,
  left: number,
): void {
  const taken = plan.capacity - left
  const anchor = taken === 0 ? now : anchorOf(plan, cells, offset, last)
  // More than the ceiling is left by a plan with a larger one, which may still be in force.
  const kept = cost <= left ? 0 : tokensOut(cells, offset) - arrived(plan, anchor, last, now)
  cells[offset + 1] = Math.max(kept, taken + Math.min(cost, plan.ceiling - taken))
  cells[offset + 2] = -anchor * plan.unit
}

/** Units of time until so many tokens have arrived. @param gone of the period at hand */
function arrival({ limit, period }: Plan, tokens: number, gone: number): number {
  return limit === 0 ? NEVER : ceilDiv(tokens, limit) * period - gone
}

function tokensOut(cells: Cells, offset: number): number {
  return cells[offset + 2]! > 0 ? cells[offset + 1]! + 1 : cells[offset + 1]!
}

/** In units, as is what periods are counted from elsewhere. */
function anchorOf(plan: Plan, cells: Cells, offset: number, last: number): number {
  return cells[offset + 2]! < 0 ? floorDiv(-cells[offset + 2]!, plan.unit) : last
}

/** Tokens out at `now`: those out at the last admission, less what arrived at each boundary passed since. */
function out(plan: Plan, cells: Cells, offset: number, last: number, now: number): number {
  const taken = Math.min(tokensOut(cells, offset), plan.ceiling)
  const gained = arrived(plan, anchorOf(plan, cells, offset, last), last, now)
  return gained >= taken ? 0 : taken - gained
}

/** Tokens that arrived after `from`, up to and with `to`; may pass 2^53, but then exceeds any debt. */
function arrived(plan: Plan, anchor: number, from: number, to: number): number {
  return (floorDiv(to - anchor, plan.period) - floorDiv(from - anchor, plan.period)) * plan.limit
}
