import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { countingPlan } from '../counting.ts'
import type { NoOptions } from '../option.ts'

/** Cells before the slots: last admission, number of slots. A slot is its beginning, its charge's id, its units. */
const HEADER = 2
const SLOT = 3
/** Integers of a run that is not worth being made smaller. */
const SMALL = 64

/**
 * At most `limit` units held at once. An admitted request holds a slot until it releases it, or until the slot's
 * time to live (`period`) is over, so that a crashed client cannot leak it. Releasing twice, or late, does nothing.
 * Waits assume that no slot is released early: sooner is possible, later is not.
 */
export const concurrency: Algorithm<Plan, NoOptions> = {
  name: 'concurrency',
  traits: { holds: true },
  options: {},
  plan: (policy) => countingPlan(concurrency, policy, 0),
  remaining: (plan, cells, offset, _last, now) => plan.capacity - held(plan, cells, offset, now),
  wait(plan, cells, offset, _last, now, cost, left) {
    let missing = cost - left
    for (let slot = firstLive(plan, cells, offset, now); missing > 0; slot += SLOT) {
      missing -= cells[slot + 2]!
      if (missing <= 0) return plan.period - (now - cells[slot]!)
    }
    return 0
  },
  room(plan, cells, now) {
    if (cells.length === 0) return HEADER + SLOT
    const first = firstLive(plan, cells, 0, now)
    const kept = (end(cells, 0) - first) / SLOT
    const wanted = HEADER + SLOT * (kept + 1) * 2
    if (wanted * 4 < cells.length && cells.length > SMALL) {
      cells.copyWithin(HEADER, first, end(cells, 0))
      cells[1] = kept
      return wanted
    }
    return HEADER + SLOT * (kept + 1) <= cells.length ? cells.length : wanted
  },
  charge(plan, cells, offset, _last, now, cost, chargeId, left) {
    const first = firstLive(plan, cells, offset, now)
    cells.copyWithin(offset + HEADER, first, end(cells, offset))
    cells[offset + 1]! -= (first - offset - HEADER) / SLOT
    const taken = Math.min(cost, Math.max(0, plan.ceiling - (plan.capacity - left)))
    const next = end(cells, offset)
    const isFull = next + SLOT > cells.length
    // Where a store gave no more room, the last slot is held by both, until the time of the later one is over.
    const slot = isFull ? next - SLOT : next
    cells[slot] = now
    cells[slot + 1] = chargeId
    cells[slot + 2] = taken + (isFull ? cells[slot + 2]! : 0)
    if (!isFull) cells[offset + 1]! += 1
  },
  /** An empty slot is removed, or a long one before it would let released ones pile up. */
  refund(_plan, cells, offset, _last, _now, cost, _charged, chargeId) {
    let left = cost
    for (let slot = end(cells, offset) - SLOT; slot >= offset + HEADER && left > 0; slot -= SLOT) {
      if (cells[slot + 1] !== chargeId) continue
      const given = Math.min(left, cells[slot + 2]!)
      left -= given
      cells[slot + 2]! -= given
      if (cells[slot + 2]! > 0) continue
      cells.copyWithin(slot, slot + SLOT, end(cells, offset))
      cells[offset + 1]! -= 1
    }
  },
}

function end(cells: Cells, offset: number): number {
  return cells.length === 0 ? offset : offset + HEADER + SLOT * cells[offset + 1]!
}

/** Slots expire in the order in which they began: all live equally long. */
function firstLive(plan: Plan, cells: Cells, offset: number, now: number): number {
  if (cells.length === 0) return offset
  let slot = offset + HEADER
  while (slot < end(cells, offset) && now - cells[slot]! >= plan.period) slot += SLOT
  return slot
}

function held(plan: Plan, cells: Cells, offset: number, now: number): number {
  let units = 0
  for (let slot = firstLive(plan, cells, offset, now); slot < end(cells, offset); slot += SLOT)
    units += cells[slot + 2]!
  return units
}
