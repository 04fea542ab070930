import type { Twin } from '../twin.ts'

export const intervalTwin: Twin = {
  keeps: 'cells',
  size: 3,
  locals: `
local function boundaries(p, anchor, from, to)
  return floorDiv(to - anchor, p.period) - floorDiv(from - anchor, p.period)
end
local function out(p, c, now)
  local taken = min(c[2], p.ceiling)
  local arrived = boundaries(p, c[3], c[1], now) * p.limit
  if arrived >= taken then return 0 end
  return taken - arrived
end`,
  remaining: 'return p.capacity - out(p, c, now)',
  wait: `
local missing = out(p, c, now) - (p.capacity - cost)
if missing <= 0 then return 0 end
if p.limit == 0 then return huge end
return ceilDiv(missing, p.limit) * p.period - fmod(now - c[3], p.period)`,
  charge: `
local taken = out(p, c, now)
if taken == 0 then c[3] = now end
c[2] = taken + min(cost, p.ceiling - taken)`,
  refund: `
if charged < c[3] then return end
local left = p.capacity - max(0, boundaries(p, c[3], charged, now)) * p.limit
if left > 0 then c[2] = max(0, c[2] - min(cost, left)) end`,
}
