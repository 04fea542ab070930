import type { Twin } from './twin.ts'

/** The twin of token bucket and GCRA: level.ts. */
export const levelTwin: Twin = {
  keeps: 'cells',
  size: 2,
  locals: `
local function levelAt(p, c, now)
  local level, most = c[2], p.ceiling * p.period
  if level > most then level = most end
  local drained = (now - c[1]) * p.limit
  if drained >= level then return 0 end
  return level - drained
end
local function refundable(p, now, cost, charged)
  local left = max(0, p.capacity * p.period - max(0, now - charged) * p.limit)
  return cost >= p.capacity and left or min(cost * p.period, left)
end`,
  remaining: `
local level, full = levelAt(p, c, now), p.capacity * p.period
if level <= full then return floorDiv(full - level, p.period) end
return -ceilDiv(level - full, p.period)`,
  wait: `
local excess = levelAt(p, c, now) - (p.capacity - cost) * p.period
if excess <= 0 then return 0 end
if p.limit == 0 then return huge end
return ceilDiv(excess, p.limit)`,
  charge: `
local level = levelAt(p, c, now)
local room = p.ceiling * p.period - level
local taken = cost > p.ceiling and room or cost * p.period
c[2] = level + (taken < room and taken or room)`,
  refund: `
local given = refundable(p, now, cost, charged)
if given > 0 then c[2] = max(0, c[2] - given) end`,
}
