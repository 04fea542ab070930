import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { countingPlan } from '../counting.ts'
import { remainder } from '../integers.ts'
import type { Policy } from '../policy.ts'
import { calendarWindow } from './calendar-window.ts'

/**
 * At most `limit` units in each window; windows are aligned to the epoch (or to a calendar, calendar-window.ts).
 * Cells: last admission, units in its window. Across an edge up to 2·limit pass within two instants: five at
 * 2:00:58 and five at 2:01:02 both pass 5/min.
 */
export const fixedWindow: Algorithm = {
  name: 'fixed-window',
  plan(policy: Policy): Plan {
    if (typeof policy.period === 'object') return calendarWindow.plan(policy)
    return countingPlan(fixedWindow, policy, 2)
  },
  remaining: (plan, cells, at, now) => plan.capacity - used(plan, cells, at, now),
  wait: (plan, _cells, _at, now, cost, left) =>
    cost <= left ? 0 : plan.period - remainder(now, plan.period),
  charge(plan, cells, at, _now, cost, _lease, left) {
    const count = plan.capacity - left
    cells[at + 1] = count + Math.min(cost, Math.max(0, plan.ceiling - count))
  },
  refund(plan, cells, at, _now, cost, charged) {
    const opened = cells[at]! - remainder(cells[at]!, plan.period)
    if (charged >= opened) cells[at + 1] = Math.max(0, cells[at + 1]! - cost)
  },
}

function used(plan: Plan, cells: Cells, at: number, now: number): number {
  return cells[at]! >= now - remainder(now, plan.period) ? cells[at + 1]! : 0
}
