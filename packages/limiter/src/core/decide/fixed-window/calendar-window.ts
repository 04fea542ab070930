import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { MAX, wholeNumber } from '../integers.ts'
import { refuseOptions } from '../period.ts'
import type { Policy } from '../policy.ts'
import { calendarOf, type Window } from './calendar.ts'

export interface CalendarPlan extends Plan {
  /** The window that a charge at `now` opens. */
  windowAt(now: number): Window
}

/**
 * A fixed window from one local day, week, month or year to the next. Cells: last admission, units in its window,
 * the window's start and end. Both are kept, so that a live window stays as it was when it opened, whatever
 * becomes of the zone; a window asked for again is not computed again.
 */
export const calendarWindow: Algorithm<CalendarPlan> = {
  name: 'calendar-window',
  plan(policy: Policy): CalendarPlan {
    refuseOptions(policy, 'burst', 'refill', 'rounding')
    const limit = wholeNumber('limit', policy.limit, 0)
    const { id, length, windowAt } = calendarOf(policy.period)
    let latest: Window = { start: 0, end: 0 }
    return {
      algorithm: calendarWindow as Algorithm,
      kind: `fixed-window/${id}`,
      capacity: limit,
      limit,
      period: length,
      unit: 1,
      size: 4,
      ceiling: Math.min(limit * 2, MAX),
      windowAt(now) {
        if (now < latest.start || now >= latest.end) latest = windowAt(now)
        return latest
      },
    }
  },
  remaining: (plan, cells, at, now) => plan.capacity - used(cells, at, now),
  wait(plan, cells, at, now, cost, left) {
    if (cost <= left) return 0
    return (isLive(cells, at, now) ? cells[at + 3]! : plan.windowAt(now).end) - now
  },
  charge(plan, cells, at, now, cost, _lease, left) {
    const count = plan.capacity - left
    if (!isLive(cells, at, now)) {
      const { start, end } = plan.windowAt(now)
      cells[at + 2] = start
      cells[at + 3] = end
    }
    cells[at + 1] = count + Math.min(cost, Math.max(0, plan.ceiling - count))
  },
  refund(_plan, cells, at, _now, cost, charged) {
    const counts = cells[at + 2]! <= charged && charged < cells[at + 3]!
    if (counts) cells[at + 1] = Math.max(0, cells[at + 1]! - cost)
  },
}

function used(cells: Cells, at: number, now: number): number {
  return isLive(cells, at, now) ? cells[at + 1]! : 0
}

function isLive(cells: Cells, at: number, now: number): boolean {
  return now < cells[at + 3]!
}
