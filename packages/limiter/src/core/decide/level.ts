import type { Algorithm, Cells, Plan, Reading, Waits } from './algorithm.ts'
import { NEVER } from './figures.ts'
import { ceilDiv, floorDiv, MAX, unitFor, wholeNumber } from './integers.ts'
import { keepDecided, keepLeft } from './one-call.ts'
import { type OptionValues, type WholeOption, whole } from './option.ts'
import { periodTicks } from './period.ts'
import type { BasePolicy } from './policy.ts'

/** What a bucket's policy may say beside its limit and period. */
export type BucketOptions = {
  /** Capacity of the bucket; a whole number from 1 to 2^53−1. Default: `limit`. */
  readonly burst: WholeOption
}
export const burst: WholeOption = /* @__PURE__ */ whole(1, 'Capacity of a bucket. Default: the limit.')
export const bucketOptions: BucketOptions = { burst }

/**
 * The exact level shared by everything that flows continuously: token bucket, GCRA and leaky bucket differ in
 * what they call it, not in its arithmetic.
 *
 * The level is what is in use, in 1/period of a unit, so that one unit of time drains exactly `limit` of it. Cells: last
 * admission, whole units in use, and the rest in 1/period in microseconds: a plan that has to count in another unit of
 * time reads the same, rounded up by less than 1/period of a unit. Below 0 the rest is none (token-bucket/interval.ts).
 */
export function levelPlan(
  algorithm: Algorithm,
  policy: BasePolicy & OptionValues<BucketOptions>,
  size = 3,
): Plan {
  const limit = wholeNumber('limit', policy.limit, 0)
  const capacity = policy.burst ?? limit
  const ticks = periodTicks(policy)
  const unit = unitFor(Math.max(capacity, limit, 1), ticks)
  const period = ticks / unit
  return {
    algorithm,
    kind: `${algorithm.name}/${ticks}`,
    capacity,
    limit,
    period,
    unit,
    size,
    ceiling: Math.min(capacity * 2, floorDiv(MAX, period)),
  }
}

/** The level at `now`. A level left by a larger limit is held to the debt that this plan allows. */
export function levelAt(plan: Plan, cells: Cells, offset: number, last: number, now: number): number {
  const level = Math.min(amountAt(plan, cells, offset + 1), plan.ceiling * plan.period)
  const drained = (now - last) * plan.limit // may pass 2^53 after a long idle, but then exceeds any level
  return drained >= level ? 0 : level - drained
}

/**
 * What two cells keep, the level or another amount: whole units, and the rest in 1/period in microseconds. It may pass
 * 2^53 where a larger limit left it, but then exceeds any ceiling.
 */
export function amountAt({ period, unit }: Plan, cells: Cells, cell: number): number {
  const rest = Math.max(0, cells[cell + 1]!)
  return cells[cell]! * period + (unit === 1 ? rest : ceilDiv(rest, unit))
}

export function keepAmount({ period, unit }: Plan, cells: Cells, cell: number, amount: number): void {
  const whole = floorDiv(amount, period)
  cells[cell] = whole
  cells[cell + 1] = (amount - whole * period) * unit
}

export function remainingLevel(plan: Plan, cells: Cells, offset: number, last: number, now: number): number {
  return leftBy(plan, levelAt(plan, cells, offset, last, now))
}

function leftBy({ capacity, period }: Plan, level: number): number {
  const full = capacity * period
  return level <= full ? floorDiv(full - level, period) : -ceilDiv(level - full, period)
}

/** ⌈(level + cost·period − capacity·period) / limit⌉: exact, or never where nothing drains. */
export function waitLevel(
  plan: Plan,
  cells: Cells,
  offset: number,
  last: number,
  now: number,
  cost: number,
): number {
  const excess = levelAt(plan, cells, offset, last, now) - (plan.capacity - cost) * plan.period
  return excess <= 0 ? 0 : drainTime(excess, plan.limit)
}

/** `remainingLevel` in one call. */
export function readLevel(plan: Plan, reading: Reading, cost: number): void {
  const { cells, offset, last, now } = reading
  keepLeft(reading, remainingLevel(plan, cells, offset, last, now), cost)
}

/** `chargeLevel` of a cost that fits, and the waits of `waitLevel`: the level is computed once. */
export function answerLevel(plan: Plan, reading: Reading & Waits, cost: number, charges: boolean): void {
  const { cells, offset, last, now } = reading
  let level = levelAt(plan, cells, offset, last, now)
  if (charges) {
    level += cost * plan.period // below the capacity, and so below the ceiling
    keepAmount(plan, cells, offset + 1, level)
    reading.left -= cost
  }
  keepWaits(plan, reading, cost, level)
}

/** `readLevel` and `answerLevel` in one call. */
export function decideLevel(
  plan: Plan,
  reading: Reading & Waits,
  at: number,
  cost: number,
  peek: boolean,
  isStated: boolean,
): boolean {
  const { cells, offset } = reading
  const { capacity, period } = plan
  const last = cells[offset]!
  const now = Math.max(at, last)
  let level = levelAt(plan, cells, offset, last, now)
  const allowed = cost === 0 || (cost <= capacity && level + cost * period <= capacity * period)
  if (allowed && !peek && cost > 0) {
    level += cost * period
    keepAmount(plan, cells, offset + 1, level)
    cells[offset] = now
  }
  if (!isStated) return allowed
  keepDecided(reading, now, allowed, leftBy(plan, level))
  keepWaits(plan, reading, cost, level)
  return allowed
}

function keepWaits(
  { capacity, period, limit }: Plan,
  reading: Reading & Waits,
  cost: number,
  level: number,
): void {
  const remaining = Math.max(reading.left, 0)
  const full = remaining >= capacity
  reading.retry = reading.allowed
    ? 0
    : cost > capacity
      ? NEVER
      : drainTime(level - (capacity - cost) * period, limit)
  reading.more = full ? NEVER : drainTime(level - (capacity - remaining - 1) * period, limit)
  reading.reset = full ? 0 : drainTime(level, limit)
}

function drainTime(excess: number, limit: number): number {
  return limit === 0 ? NEVER : ceilDiv(excess, limit)
}

/**
 * A level above the ceiling was left by a plan with a larger one, which may still be in force: it is only drained.
 * @returns what was taken, in 1/period of a unit
 */
export function chargeLevel(
  plan: Plan,
  cells: Cells,
  offset: number,
  last: number,
  now: number,
  cost: number,
): number {
  const { period, capacity, ceiling } = plan
  const level = levelAt(plan, cells, offset, last, now)
  const room = ceiling * period - level
  const taken = cost > ceiling ? room : Math.min(cost * period, room)
  const charged = level + taken
  if (charged > capacity * period && amountAt(plan, cells, offset + 1) > ceiling * period) {
    lower(plan, cells, offset, (now - last) * plan.limit)
    if (amountAt(plan, cells, offset + 1) >= charged) return taken
  }
  keepAmount(plan, cells, offset + 1, charged)
  return taken
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
  _last: number,
  now: number,
  cost: number,
  charged: number,
): void {
  const given = refundable(plan, now, cost, charged)
  if (given > 0) lower(plan, cells, offset, given)
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

/** Takes so much off the level, in 1/period of a unit; exact also where the level passes 2^53. */
export function lower({ period, unit }: Plan, cells: Cells, offset: number, amount: number): void {
  const whole = floorDiv(amount, period)
  const rest = (amount - whole * period) * unit
  cells[offset + 1]! -= whole
  if (rest > 0) {
    cells[offset + 2] = Math.max(0, cells[offset + 2]!) - rest
    if (cells[offset + 2]! < 0) {
      cells[offset + 1]! -= 1
      cells[offset + 2]! += period * unit
    }
  }
  if (cells[offset + 1]! >= 0) return
  cells[offset + 1] = 0
  cells[offset + 2] = 0
}
