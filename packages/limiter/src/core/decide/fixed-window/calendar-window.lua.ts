import type { Twin } from '../twin.ts'
import type { CalendarPlan } from './calendar-window.ts'

/**
 * Lua knows no zones, so the caller brings windows around what it takes for now: their edges are `p[1]`…`p[5]`.
 * Four, the third being that of `now`: one is to spare on each side for a caller whose clock is off, and one more
 * before for keys with a phase.
 */
export const calendarWindowTwin: Twin = {
  keeps: 'cells',
  size: 4,
  locals: `
local function used(c, now)
  return now < c[4] and c[2] or 0
end
local function windowAt(p, now)
  if now < p[1] or now >= p[5] then return end
  if now < p[2] then return p[1], p[2] end
  if now < p[3] then return p[2], p[3] end
  if now < p[4] then return p[3], p[4] end
  return p[4], p[5]
end`,
  remaining: 'return p.capacity - used(c, now)',
  wait: `
if used(c, now) + cost <= p.capacity then return 0 end
return c[4] - now`,
  charge: `
local count = used(c, now)
if now >= c[4] then c[3], c[4] = windowAt(p, now) end
c[2] = count + min(cost, max(0, p.ceiling - count))`,
  refund: `
if c[3] <= charged and charged < c[4] then c[2] = max(0, c[2] - cost) end`,
  noWindow: 'return now >= c[4] and not windowAt(p, now)',
  extras: (plan, now) => edges(plan as CalendarPlan, now),
  extraCount: 5,
}

function edges(plan: CalendarPlan, now: number): readonly number[] {
  const own = plan.windowAt(now)
  const after = plan.windowAt(own.end)
  const before = plan.windowAt(own.start - 1)
  const first = plan.windowAt(before.start - 1)
  return [first.start, before.start, own.start, own.end, after.end]
}
