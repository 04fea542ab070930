import { under } from '../../options.ts'
import type { Algorithm, Cells, Plan } from '../algorithm.ts'
import { MAX, wholeNumber } from '../integers.ts'
import type { NoOptions } from '../option.ts'
import type { CalendarPeriod } from '../policy.ts'
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
export const calendarWindow: Algorithm<CalendarPlan, NoOptions> = {
  name: 'calendar-window',
  traits: { ends: true },
  options: {},
  plan(policy) {
    const limit = wholeNumber('limit', policy.limit, 0)
    const { id, length, windowAt } = under(['period'], () => calendarOf(policy.period as CalendarPeriod))
    let latest: Window = { start: 0, end: 0 }
    return {
      algorithm: calendarWindow,
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
  remaining: (plan, cells, offset, _last, now) => plan.capacity - used(cells, offset, now),
  wait(plan, cells, offset, _last, now, cost, left) {
    if (cost <= left) return 0
    return (isLive(cells, offset, now) ? cells[offset + 3]! : plan.windowAt(now).end) - now
  },
  charge(plan, cells, offset, _last, now, cost, _chargeId, left) {
    const count = plan.capacity - left
    if (!isLive(cells, offset, now)) {
      const { start, end } = plan.windowAt(now)
      cells[offset + 2] = start
      cells[offset + 3] = end
    }
    cells[offset + 1] = count + Math.min(cost, Math.max(0, plan.ceiling - count))
  },
  refund(_plan, cells, offset, _last, _now, cost, charged) {
    const counts = cells[offset + 2]! <= charged && charged < cells[offset + 3]!
    if (counts) cells[offset + 1] = Math.max(0, cells[offset + 1]! - cost)
  },
}

function used(cells: Cells, offset: number, now: number): number {
  return isLive(cells, offset, now) ? cells[offset + 1]! : 0
}

function isLive(cells: Cells, offset: number, now: number): boolean {
  return now < cells[offset + 3]!
}
