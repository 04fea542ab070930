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
  for i = 1, 4 do
    if p[i] <= now and now < p[i + 1] then return i end
  end
end`,
  remaining: 'return p.capacity - used(c, now)',
  wait: `
if used(c, now) + cost <= p.capacity then return 0 end
return c[4] - now`,
  charge: `
local count = used(c, now)
if now >= c[4] then
  local i = windowAt(p, now)
  c[3], c[4] = p[i], p[i + 1]
end
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
