import type { Twin } from '../twin.ts'

export const intervalTwin: Twin = {
  keeps: 'cells',
  size: 3,
  locals: `
local function tokensOut(c)
  return c[3] > 0 and c[2] + 1 or c[2]
end
local function anchorOf(p, c, last)
  return c[3] < 0 and floorDiv(-c[3], p.unit) or last
end
local function arrived(p, anchor, from, to)
  return (floorDiv(to - anchor, p.period) - floorDiv(from - anchor, p.period)) * p.limit
end
local function out(p, c, last, now)
  local taken = min(tokensOut(c), p.ceiling)
  local gained = arrived(p, anchorOf(p, c, last), last, now)
  if gained >= taken then return 0 end
  return taken - gained
end`,
  remaining: 'return p.capacity - out(p, c, last, now)',
  wait: `
local missing = out(p, c, last, now) - (p.capacity - cost)
if missing <= 0 then return 0 end
if p.limit == 0 then return huge end
return ceilDiv(missing, p.limit) * p.period - fmod(now - anchorOf(p, c, last), p.period)`,
  charge: `
local taken, kept = out(p, c, last, now), 0
local anchor = taken == 0 and now or anchorOf(p, c, last)
if cost > p.capacity - taken then kept = tokensOut(c) - arrived(p, anchor, last, now) end
c[2] = max(kept, taken + min(cost, p.ceiling - taken))
c[3] = -anchor * p.unit`,
  refund: `
local anchor = anchorOf(p, c, last)
if charged < anchor and c[3] < 0 then return end
local left = p.capacity - max(0, arrived(p, anchor, charged, now))
if left > 0 then c[2] = max(0, c[2] - min(cost, left)) end`,
}
