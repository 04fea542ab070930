import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { ceilDiv, floorDiv, MAX } from '../integers.ts'
import {
  amountAt,
  answerLevel,
  type BucketOptions,
  bucketOptions,
  chargeLevel,
  keepAmount,
  levelAt,
  levelPlan,
  lower,
  readLevel,
  refundable,
  remainingLevel,
  waitLevel,
} from '../level.ts'

const LEAD = 3
const LATEST = 5
const SAME = 6

/**
 * A queue of depth `burst` that drains at limit/period. A request joins while its cost fits, and gets as its delay the time
 * that its predecessors need to drain. Depth 10 at 1 a second: ten at once get delays 0, 1 … 9 s, the eleventh is
 * refused with 1 s.
 *
 * Cells: those of the level, which decides who joins (level.ts); the same two of what the backlog exceeds it by; the
 * instant of the latest turn, in microseconds; and the limit by which all turns since the queue was empty were told, 0
 * where there were several. The backlog is what drains before the next turn: more than the level
 * after a request gave its turn back that has others behind it, since these keep the turns that they were told.
 */
export const leakyBucket: Algorithm<Plan, BucketOptions> = {
  name: 'leaky-bucket',
  traits: { queues: true },
  options: bucketOptions,
  plan: (policy) => levelPlan(leakyBucket, policy, 7),
  remaining: remainingLevel,
  wait: waitLevel,
  charge,
  /**
   * The level falls as that of a token bucket. The latest turn can be given again, unless the limit changed since the
   * queue was empty: then turns do not tell where in the backlog they are. An earlier one is lost, for those
   * behind it keep theirs; of these at most `ceiling` units are given back before they have drained, so that delays stay
   * bounded however many leave.
   */
  refund(plan, cells, offset, last, now, cost, charged) {
    const given = refundable(plan, now, cost, charged)
    if (given === 0) return
    const level = amountAt(plan, cells, offset + 1)
    const lead = isUntold(plan, cells, offset) ? 0 : amountAt(plan, cells, offset + LEAD)
    const ahead = Math.min(MAX, level + lead)
    const start = (charged - last) * plan.limit
    const oneUnit = start + Math.max(0, plan.period - plan.limit) // so much at most, less than one unit of it is left
    const isWhole = ahead - given <= oneUnit
    const isLatest =
      plan.limit > 0 &&
      cells[offset + SAME] === plan.limit &&
      (charged === floorDiv(cells[offset + LATEST]!, plan.unit) || (isWhole && ahead > oneUnit))
    const backlog = isLatest ? Math.max(0, ahead - given, start - plan.limit + 1) : ahead
    // Where all has drained before it, nothing is left to wait for, whatever the next limit.
    if (isLatest && isWhole)
      keepLatest(plan, cells, offset, backlog === 0 ? 0 : charged - floorDiv(plan.period, plan.limit))
    const most = plan.ceiling * plan.period
    const lost = plan.limit === 0 ? 0 : backlog - Math.min(most, MAX - most)
    const lowered = Math.max(0, Math.min(given, level, level - lost))
    lower(plan, cells, offset, lowered)
    keepAmount(plan, cells, offset + LEAD, Math.max(0, lead + lowered - (ahead - backlog)))
  },
  delay: turnAt,
  idle: turnAt,
  read(plan, reading, cost) {
    readLevel(plan, reading, cost)
    const { cells, offset, last, now } = reading
    if (reading.allowed && cost > 0) reading.delay = turnAt(plan, cells, offset, last, now)
  },
  answer(plan, reading, cost, charges) {
    if (charges) {
      const { cells, offset, last, now } = reading
      charge(plan, cells, offset, last, now, cost)
      reading.last = now
      reading.left -= cost
    }
    answerLevel(plan, reading, cost, false)
  },
}

function charge(plan: Plan, cells: Cells, offset: number, last: number, now: number, cost: number): void {
  const lead = leadAt(plan, cells, offset, last, now)
  const drained = turnIn(plan, levelAt(plan, cells, offset, last, now) + lead)
  const told = toldAt(plan, cells, offset, now)
  const turn = Math.max(drained, told)
  const taken = chargeLevel(plan, cells, offset, last, now, cost)
  keepAmount(plan, cells, offset + LEAD, lead)
  const isSame = turn === 0 || (cells[offset + SAME] === plan.limit && told <= drained)
  cells[offset + SAME] = isSame ? plan.limit : 0
  // Of a correction that was cut off at the ceiling too little is left to be a turn.
  if (taken >= plan.period && plan.limit > 0) keepLatest(plan, cells, offset, now + turn)
}

/**
 * Units of time until the next turn: the backlog has drained, and under a changed limit the turns that were told before
 * still stand.
 */
function turnAt(plan: Plan, cells: Cells, offset: number, last: number, now: number): number {
  const backlog = levelAt(plan, cells, offset, last, now) + leadAt(plan, cells, offset, last, now)
  return Math.max(turnIn(plan, backlog), toldAt(plan, cells, offset, now))
}

/** By how much the backlog exceeds the level; held, as the level is, where a larger limit left it. */
function leadAt(plan: Plan, cells: Cells, offset: number, last: number, now: number): number {
  if (isUntold(plan, cells, offset)) return 0
  const most = plan.ceiling * plan.period
  const lead = Math.min(amountAt(plan, cells, offset + LEAD), most, MAX - most)
  const left = Math.min(amountAt(plan, cells, offset + 1), most) + lead - (now - last) * plan.limit
  return Math.max(0, Math.min(lead, left))
}

/** Units of time until a turn that is period/limit after the latest one told. */
function toldAt(plan: Plan, cells: Cells, offset: number, now: number): number {
  if (isUntold(plan, cells, offset)) return 0
  const latest = ceilDiv(cells[offset + LATEST]!, plan.unit)
  return Math.max(0, latest - now + floorDiv(plan.period, plan.limit))
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
