import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { ceilDiv, floorDiv, MAX } from '../integers.ts'
import {
  amountAt,
  type BucketOptions,
  bucketOptions,
  chargeLevel,
  keepAmount,
  levelAt,
  levelPlan,
  lower,
  refundable,
  remainingLevel,
  waitLevel,
} from '../level.ts'

const LEAD = 3
const LATEST = 5

/**
 * A queue of depth `burst` that drains at limit/period. A request joins while its cost fits, and gets as its delay the time
 * that its predecessors need to drain. Depth 10 at 1 a second: ten at once get delays 0, 1 … 9 s, the eleventh is
 * refused with 1 s.
 *
 * Cells: those of the level, which decides who joins (level.ts); the same two of what the backlog exceeds it by; and the
 * instant of the latest turn, in microseconds. The backlog is what drains before the next turn: more than the level
 * after a request gave its turn back that has others behind it, since these keep the turns that they were told.
 */
export const leakyBucket: Algorithm<Plan, BucketOptions> = {
  name: 'leaky-bucket',
  traits: { queues: true },
  options: bucketOptions,
  plan: (policy) => levelPlan(leakyBucket, policy, 6),
  remaining: remainingLevel,
  wait: waitLevel,
  charge(plan, cells, offset, last, now, cost) {
    const lead = leadAt(plan, cells, offset, last, now)
    const ahead = backlogAt(plan, cells, offset, last, now)
    const taken = chargeLevel(plan, cells, offset, last, now, cost)
    keepAmount(plan, cells, offset + LEAD, lead)
    // Of a correction that was cut off at the ceiling too little is left to be a turn.
    if (taken >= plan.period && plan.limit > 0) keepLatest(plan, cells, offset, now + turnIn(plan, ahead))
  },
  /**
   * The level falls as that of a token bucket. The latest turn can be given again. An earlier one is lost, for those
   * behind it keep theirs; of these at most `ceiling` units are given back before they have drained, so that delays stay
   * bounded however many leave.
   */
  refund(plan, cells, offset, last, now, cost, charged) {
    const given = refundable(plan, now, cost, charged)
    if (given === 0) return
    const level = amountAt(plan, cells, offset + 1)
    const lead = isUntold(plan, cells, offset) ? 0 : amountAt(plan, cells, offset + LEAD)
    const ahead = Math.max(Math.min(MAX, level + lead), toldAt(plan, cells, offset, last))
    const start = (charged - last) * plan.limit
    const oneUnit = start + Math.max(0, plan.period - plan.limit) // so much at most, less than one unit of it is left
    const isWhole = ahead - given <= oneUnit
    const isLatest = charged === floorDiv(cells[offset + LATEST]!, plan.unit) || (isWhole && ahead > oneUnit)
    const backlog = isLatest ? Math.max(0, ahead - given, start - plan.limit) : ahead
    if (isLatest && isWhole && plan.limit > 0)
      keepLatest(plan, cells, offset, charged - floorDiv(plan.period, plan.limit))
    const most = plan.ceiling * plan.period
    const lost = plan.limit === 0 ? 0 : backlog - Math.min(most, MAX - most)
    const lowered = Math.max(0, Math.min(given, level, level - lost))
    lower(plan, cells, offset, lowered)
    const drained = Math.max(0, Math.min(MAX, level + lead) - backlog)
    keepAmount(plan, cells, offset + LEAD, Math.max(0, lead + lowered - drained))
  },
  delay: (plan, cells, offset, last, now) => turnIn(plan, backlogAt(plan, cells, offset, last, now)),
  idle: (plan, cells, offset, last, now) => turnIn(plan, backlogAt(plan, cells, offset, last, now)),
}

/**
 * What drains before the next turn, in 1/period of a unit. Under a changed limit the turns that were told before
 * still stand, so the latest of them counts as well.
 */
function backlogAt(plan: Plan, cells: Cells, offset: number, last: number, now: number): number {
  const drained = levelAt(plan, cells, offset, last, now) + leadAt(plan, cells, offset, last, now)
  return Math.max(drained, toldAt(plan, cells, offset, now))
}

/** By how much the backlog exceeds the level; held, as the level is, where a larger limit left it. */
function leadAt(plan: Plan, cells: Cells, offset: number, last: number, now: number): number {
  if (isUntold(plan, cells, offset)) return 0
  const most = plan.ceiling * plan.period
  const lead = Math.min(amountAt(plan, cells, offset + LEAD), most, MAX - most)
  const left = Math.min(amountAt(plan, cells, offset + 1), most) + lead - (now - last) * plan.limit
  return Math.max(0, Math.min(lead, left))
}

/** What drains, at least, before a turn that is later than the latest one told. */
function toldAt(plan: Plan, cells: Cells, offset: number, now: number): number {
  if (isUntold(plan, cells, offset)) return 0
  const latest = ceilDiv(cells[offset + LATEST]!, plan.unit)
  const units = latest - now + floorDiv(plan.period, plan.limit) - 1
  return Math.min(MAX, Math.max(0, units) * plan.limit)
}

function isUntold({ limit }: Plan, cells: Cells, offset: number): boolean {
  return limit === 0 || cells[offset + LATEST] === 0
}

/** @param turn in units of the plan */
function keepLatest({ unit }: Plan, cells: Cells, offset: number, turn: number): void {
  cells[offset + LATEST] = Math.min(floorDiv(MAX, unit), Math.max(0, turn)) * unit
}

/** Units of time until a backlog has drained. */
function turnIn({ limit }: Plan, backlog: number): number {
  return backlog === 0 ? 0 : limit === 0 ? Number.POSITIVE_INFINITY : ceilDiv(backlog, limit)
}
