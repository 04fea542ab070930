import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { ceilDiv, floorDiv, MAX } from '../integers.ts'
import {
  type BucketOptions,
  bucketOptions,
  chargeLevel,
  levelAt,
  levelPlan,
  refundable,
  remainingLevel,
  waitLevel,
} from '../level.ts'

/**
 * A queue of depth `burst` that drains at limit/period. A request joins while its cost fits, and gets as its delay the time
 * that its predecessors need to drain. Depth 10 at 1 a second: ten at once get delays 0, 1 … 9 s, the eleventh is
 * refused with 1 s.
 *
 * Cells: last admission, level in use, backlog, instant of the latest turn. The level decides who joins. The backlog is
 * what drains before the next turn: more than the level after a request gave its turn back that has others behind it,
 * since these keep the turns that they were told.
 */
export const leakyBucket: Algorithm<Plan, BucketOptions> = {
  name: 'leaky-bucket',
  traits: { queues: true },
  options: bucketOptions,
  plan: (policy) => levelPlan(leakyBucket, policy, 4),
  remaining: remainingLevel,
  wait: waitLevel,
  charge(plan, cells, offset, now, cost) {
    const level = levelAt(plan, cells, offset, now)
    const ahead = backlogAt(plan, cells, offset, now)
    chargeLevel(plan, cells, offset, now, cost)
    const taken = cells[offset + 1]! - level
    cells[offset + 2] = Math.min(MAX, ahead + taken)
    // Of a correction that was cut off at the ceiling too little is left to be a turn.
    if (taken >= plan.period && plan.limit > 0) cells[offset + 3] = Math.min(MAX, now + turnIn(plan, ahead))
  },
  /**
   * The level falls as that of a token bucket. The latest turn can be given again. An earlier one is lost, for those
   * behind it keep theirs; of these at most `ceiling` units are given back before they have drained, so that delays stay
   * bounded however many leave.
   */
  refund(plan, cells, offset, now, cost, charged) {
    const given = refundable(plan, now, cost, charged)
    if (given === 0) return
    const last = cells[offset]!
    const level = cells[offset + 1]!
    const ahead = backlogAt(plan, cells, offset, last)
    const start = (charged - last) * plan.limit
    const oneUnit = start + Math.max(0, plan.period - plan.limit) // so much at most, less than one unit of it is left
    const isWhole = ahead - given <= oneUnit
    const isLatest = charged === cells[offset + 3] || (isWhole && ahead > oneUnit)
    const backlog = isLatest ? Math.max(0, ahead - given, start - plan.limit) : ahead
    if (isLatest && isWhole && plan.limit > 0)
      cells[offset + 3] = Math.min(MAX, Math.max(0, charged - floorDiv(plan.period, plan.limit)))
    const most = plan.ceiling * plan.period
    const lost = plan.limit === 0 ? 0 : backlog - Math.min(most, MAX - most)
    cells[offset + 1] = Math.min(level, Math.max(0, level - given, lost))
    cells[offset + 2] = Math.max(backlog, cells[offset + 1]!)
  },
  delay: (plan, cells, offset, now) => turnIn(plan, backlogAt(plan, cells, offset, now)),
  idle: (plan, cells, offset, now) => turnIn(plan, backlogAt(plan, cells, offset, now)),
}

/**
 * What drains before the next turn, in units of the level. Under a changed limit the turns that were told before
 * still stand, so the latest of them counts as well.
 */
function backlogAt(plan: Plan, cells: Cells, offset: number, now: number): number {
  const level = levelAt(plan, cells, offset, now)
  const latest = cells[offset + 3]!
  if (plan.limit === 0 || latest === 0) return level
  const drained = cells[offset + 2]! - (now - cells[offset]!) * plan.limit
  const told = (latest - now + floorDiv(plan.period, plan.limit) - 1) * plan.limit
  return Math.min(MAX, Math.max(level, drained, told))
}

/** Units of time until a backlog has drained. */
function turnIn({ limit }: Plan, backlog: number): number {
  return backlog === 0 ? 0 : limit === 0 ? Number.POSITIVE_INFINITY : ceilDiv(backlog, limit)
}
