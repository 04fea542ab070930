import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { countingPlan } from '../counting.ts'
import { remainder } from '../integers.ts'
import { keepDecided, keepLeft, keepOneWait } from '../one-call.ts'
import type { NoOptions } from '../option.ts'
import { calendarWindow } from './calendar-window.ts'

/**
 * At most `limit` units in each window; windows are aligned to the epoch (or to a calendar, calendar-window.ts).
 * Cells: last admission, units in its window. Across an edge up to 2·limit pass within two instants: five at
 * 2:00:58 and five at 2:01:02 both pass 5/min.
 */
export const fixedWindow: Algorithm<Plan, NoOptions> = {
  name: 'fixed-window',
  traits: { aligned: true, ends: true },
  options: {},
  plan(policy) {
    if (typeof policy.period === 'object') return calendarWindow.plan(policy)
    return countingPlan(fixedWindow, policy, 2)
  },
  remaining: (plan, cells, offset, last, now) => plan.capacity - used(plan, cells, offset, last, now),
  wait: (plan, _cells, _offset, _last, now, cost, left) =>
    cost <= left ? 0 : plan.period - remainder(now, plan.period),
  charge(plan, cells, offset, _last, _now, cost, _chargeId, left) {
    const count = plan.capacity - left
    cells[offset + 1] = count + Math.min(cost, Math.max(0, plan.ceiling - count))
  },
  read(plan, reading, cost) {
    const { cells, offset, last, now } = reading
    keepLeft(reading, plan.capacity - used(plan, cells, offset, last, now), cost)
  },
  answer(plan, reading, cost, charges) {
    const { cells, offset, now } = reading
    if (charges) {
      reading.left -= cost
      cells[offset + 1] = plan.capacity - reading.left // what fits is below the ceiling
    }
    keepOneWait(plan, reading, cost, plan.period - remainder(now, plan.period))
  },
  decide(plan, reading, at, cost, peek, isStated) {
    const { cells, offset } = reading
    const { capacity, period } = plan
    const last = cells[offset]!
    const now = Math.max(at, last)
    const gone = remainder(now, period)
    let left = capacity - (last >= now - gone ? cells[offset + 1]! : 0)
    const allowed = cost === 0 || cost <= left
    if (allowed && !peek && cost > 0) {
      left -= cost
      cells[offset + 1] = capacity - left
      cells[offset] = now
    }
    if (!isStated) return allowed
    keepDecided(reading, now, allowed, left)
    keepOneWait(plan, reading, cost, period - gone)
    return allowed
  },
  refund(plan, cells, offset, last, _now, cost, charged) {
    const opened = last - remainder(last, plan.period)
    if (charged >= opened) cells[offset + 1] = Math.max(0, cells[offset + 1]! - cost)
  },
}

function used(plan: Plan, cells: Cells, offset: number, last: number, now: number): number {
  return last >= now - remainder(now, plan.period) ? cells[offset + 1]! : 0
}
