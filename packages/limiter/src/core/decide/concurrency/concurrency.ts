import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { countingPlan } from '../counting.ts'
import type { Policy } from '../policy.ts'

/** Cells before the leases: last admission, leases. A lease is its beginning, its name, its weight. */
const HEADER = 2
const LEASE = 3

/**
 * At most `limit` units held at once. An admitted request holds a lease until it gives it back, or until the
 * lease's time to live (`period`) is over, so that a crashed holder cannot leak it. Giving back twice, or late,
 * does nothing. Waits assume that nobody gives back early: sooner is possible, later is not.
 */
export const concurrency: Algorithm = {
  name: 'concurrency',
  leases: true,
  plan: (policy: Policy): Plan => countingPlan(concurrency, policy, 0),
  remaining: (plan, cells, at, now) => plan.capacity - held(plan, cells, at, now),
  wait(plan, cells, at, now, cost, left) {
    let missing = cost - left
    for (let lease = firstLive(plan, cells, at, now); missing > 0; lease += LEASE) {
      missing -= cells[lease + 2]!
      if (missing <= 0) return plan.period - (now - cells[lease]!)
    }
    return 0
  },
  room(plan, cells, now) {
    if (cells.length === 0) return HEADER + LEASE
    const kept = (end(cells, 0) - firstLive(plan, cells, 0, now)) / LEASE
    const needed = HEADER + LEASE * (kept + 1)
    return needed <= cells.length ? cells.length : HEADER + LEASE * (kept + 1) * 2
  },
  charge(plan, cells, at, now, cost, lease, left) {
    const first = firstLive(plan, cells, at, now)
    cells.copyWithin(at + HEADER, first, end(cells, at))
    cells[at + 1]! -= (first - at - HEADER) / LEASE
    const next = end(cells, at)
    cells[next] = now
    cells[next + 1] = lease
    cells[next + 2] = Math.min(cost, Math.max(0, plan.ceiling - (plan.capacity - left)))
    cells[at + 1]! += 1
  },
  /** An emptied lease is taken out, or a long one before it would let released ones pile up. */
  refund(_plan, cells, at, _now, cost, _charged, name) {
    let left = cost
    for (let lease = end(cells, at) - LEASE; lease >= at + HEADER && left > 0; lease -= LEASE) {
      if (cells[lease + 1] !== name) continue
      const given = Math.min(left, cells[lease + 2]!)
      left -= given
      cells[lease + 2]! -= given
      if (cells[lease + 2]! > 0) continue
      cells.copyWithin(lease, lease + LEASE, end(cells, at))
      cells[at + 1]! -= 1
    }
  },
}

function end(cells: Cells, at: number): number {
  return cells.length === 0 ? at : at + HEADER + LEASE * cells[at + 1]!
}

/** Leases end in the order in which they began: all live equally long. */
function firstLive(plan: Plan, cells: Cells, at: number, now: number): number {
  if (cells.length === 0) return at
  let lease = at + HEADER
  while (lease < end(cells, at) && now - cells[lease]! >= plan.period) lease += LEASE
  return lease
}

function held(plan: Plan, cells: Cells, at: number, now: number): number {
  let units = 0
  for (let lease = firstLive(plan, cells, at, now); lease < end(cells, at); lease += LEASE)
    units += cells[lease + 2]!
  return units
}
