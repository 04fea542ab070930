import type { Algorithm, Cells, Plan, Reading, Waits } from '../algorithm.ts'
import { NEVER } from '../figures.ts'
import { ceilDiv, floorDiv, MAX, remainder, unitFor, wholeNumber } from '../integers.ts'
import { keepDecided, keepLeft } from '../one-call.ts'
import { type ChoiceOption, choice } from '../option.ts'
import { periodTicks } from '../period.ts'

interface CounterPlan extends Plan {
  readonly rounding: 'down' | 'up'
}

type CounterOptions = {
  /** How the previous window's weight is rounded. Default `down`. */
  readonly rounding: ChoiceOption<'down' | 'up'>
}

/**
 * Two counters stand for a sliding window: the previous window's count weighs as much as the trailing period
 * still overlaps it. With e units of time elapsed, admit while ⌊prev·(period − e)/period⌋ + cur + n ≤ limit
 * (⌈…⌉ with `rounding: up`).
 *
 * Cells: last admission, previous window's count, its own window's count. An adversary who floods the last
 * instant of a window, then rides the decaying weight, can reach 2·limit in one period, or 2·limit − 1 with
 * `rounding: up`. 1 per second rounds a weight of 0.9 down to nothing: 0.9 s and 1.1 s both pass.
 */
export const slidingWindowCounter: Algorithm<CounterPlan, CounterOptions> = {
  name: 'sliding-window-counter',
  traits: { aligned: true },
  options: {
    rounding: /* @__PURE__ */ choice(
      ['down', 'up'],
      'How the previous window’s weight is rounded. Default: down.',
    ),
  },
  plan(policy) {
    const { rounding = 'down' } = policy
    const limit = wholeNumber('limit', policy.limit, 0)
    const ticks = periodTicks(policy)
    const unit = unitFor(Math.max(limit, 1), ticks)
    const period = ticks / unit
    return {
      algorithm: slidingWindowCounter,
      kind: `sliding-window-counter/${ticks}`,
      capacity: limit,
      limit,
      period,
      unit,
      size: 3,
      ceiling: Math.min(limit * 2, floorDiv(MAX, period)),
      rounding,
    }
  },
  remaining: (plan, cells, offset, last, now) =>
    plan.capacity -
    carried(plan, previous(plan, cells, offset, last, now), now) -
    current(plan, cells, offset, last, now),
  wait: (plan, cells, offset, last, now, cost) =>
    waitWith(
      plan,
      previous(plan, cells, offset, last, now),
      current(plan, cells, offset, last, now),
      remainder(now, plan.period),
      cost,
    ),
  charge(plan, cells, offset, last, now, cost) {
    const prev = previous(plan, cells, offset, last, now)
    const cur = current(plan, cells, offset, last, now)
    cells[offset + 1] = prev
    cells[offset + 2] = cur + Math.min(cost, Math.max(0, plan.ceiling - cur))
  },
  refund(plan, cells, offset, last, _now, cost, charged) {
    const behind = floorDiv(last, plan.period) - floorDiv(charged, plan.period)
    const cell = offset + (behind <= 0 ? 2 : 1)
    if (behind <= 1) cells[cell] = Math.max(0, cells[cell]! - cost)
  },
  read(plan, reading, cost) {
    const { cells, offset, last, now } = reading
    const prev = previous(plan, cells, offset, last, now)
    const left = plan.capacity - carried(plan, prev, now) - current(plan, cells, offset, last, now)
    keepLeft(reading, left, cost)
  },
  answer(plan, reading, cost, charges) {
    const { cells, offset, last, now } = reading
    const prev = previous(plan, cells, offset, last, now)
    let cur = current(plan, cells, offset, last, now)
    if (charges) {
      cur += cost // what fits is below the ceiling
      cells[offset + 1] = prev
      cells[offset + 2] = cur
      reading.left -= cost
    }
    keepWaits(plan, reading, cost, prev, cur)
  },
  decide(plan, reading, at, cost, peek, isStated) {
    const { cells, offset } = reading
    const last = cells[offset]!
    const now = Math.max(at, last)
    const prev = previous(plan, cells, offset, last, now)
    let cur = current(plan, cells, offset, last, now)
    let left = plan.capacity - carried(plan, prev, now) - cur
    const allowed = cost === 0 || cost <= left
    if (allowed && !peek && cost > 0) {
      cur += cost
      left -= cost
      cells[offset] = now
      cells[offset + 1] = prev
      cells[offset + 2] = cur
    }
    if (!isStated) return allowed
    keepDecided(reading, now, allowed, left)
    keepWaits(plan, reading, cost, prev, cur)
    return allowed
  },
}

function keepWaits(
  plan: CounterPlan,
  reading: Reading & Waits,
  cost: number,
  prev: number,
  cur: number,
): void {
  const { capacity } = plan
  const remaining = Math.max(reading.left, 0)
  const full = remaining >= capacity
  const elapsed = remainder(reading.now, plan.period)
  reading.retry = reading.allowed ? 0 : cost > capacity ? NEVER : waitWith(plan, prev, cur, elapsed, cost)
  reading.more = full ? NEVER : waitWith(plan, prev, cur, elapsed, remaining + 1)
  reading.reset = full ? 0 : waitWith(plan, prev, cur, elapsed, capacity)
}

/** Units of time until `cost` fits, `elapsed` after the window began. */
function waitWith(plan: CounterPlan, prev: number, cur: number, elapsed: number, cost: number): number {
  if (cur + cost <= plan.capacity)
    return Math.max(0, decayed(plan, prev, plan.capacity - cost - cur) - elapsed)
  return plan.period - elapsed + decayed(plan, cur, plan.capacity - cost)
}

/** Units that the previous window's `prev` still weighs at `now`. */
function carried(plan: CounterPlan, prev: number, now: number): number {
  if (prev === 0) return 0
  const share = countable(plan, prev) * (plan.period - remainder(now, plan.period))
  return plan.rounding === 'down' ? floorDiv(share, plan.period) : ceilDiv(share, plan.period)
}

/** A count that a much larger limit left is held to what can be computed exactly. */
function countable({ period }: Plan, prev: number): number {
  return Math.min(prev, floorDiv(MAX, period))
}

/** Units of time into the next window after which a previous count of `prev` weighs no more than `weight`. */
function decayed(plan: CounterPlan, prev: number, weight: number): number {
  const from = countable(plan, prev)
  if (from <= weight) return 0
  const share = plan.rounding === 'down' ? (weight + 1) * plan.period - 1 : weight * plan.period
  return plan.period - floorDiv(share, from)
}

function current(plan: Plan, cells: Cells, offset: number, last: number, now: number): number {
  return windowsSince(plan, last, now) === 0 ? cells[offset + 2]! : 0
}

function previous(plan: Plan, cells: Cells, offset: number, last: number, now: number): number {
  const windows = windowsSince(plan, last, now)
  return windows === 0 ? cells[offset + 1]! : windows === 1 ? cells[offset + 2]! : 0
}

function windowsSince(plan: Plan, last: number, now: number): number {
  return floorDiv(now, plan.period) - floorDiv(last, plan.period)
}
