import type { Twin } from './twin.ts'

/** The twin of token bucket and GCRA: level.ts. */
export const levelTwin: Twin = {
  keeps: 'cells',
  size: 3,
  locals: `
local function amountOf(p, units, rest)
  if rest < 0 then rest = 0 end
  return units * p.period + (p.unit == 1 and rest or ceilDiv(rest, p.unit))
end
local function partsOf(p, amount)
  local units = floorDiv(amount, p.period)
  return units, (amount - units * p.period) * p.unit
end
local function levelAt(p, c, last, now)
  local level, most = amountOf(p, c[2], c[3]), p.ceiling * p.period
  if level > most then level = most end
  local drained = (now - last) * p.limit
  if drained >= level then return 0 end
  return level - drained
end
local function lower(p, c, amount)
  local whole = floorDiv(amount, p.period)
  local rest = (amount - whole * p.period) * p.unit
  c[2] = c[2] - whole
  if rest > 0 then
    c[3] = max(0, c[3]) - rest
    if c[3] < 0 then c[2], c[3] = c[2] - 1, c[3] + p.period * p.unit end
  end
  if c[2] < 0 then c[2], c[3] = 0, 0 end
end
local function refundable(p, now, cost, charged)
  local left = max(0, p.capacity * p.period - max(0, now - charged) * p.limit)
  return cost >= p.capacity and left or min(cost * p.period, left)
end`,
  remaining: `
local level, full = levelAt(p, c, last, now), p.capacity * p.period
if level <= full then return floorDiv(full - level, p.period) end
return -ceilDiv(level - full, p.period)`,
  wait: `
local excess = levelAt(p, c, last, now) - (p.capacity - cost) * p.period
if excess <= 0 then return 0 end
if p.limit == 0 then return huge end
return ceilDiv(excess, p.limit)`,
  charge: `
local level, most = levelAt(p, c, last, now), p.ceiling * p.period
local room = most - level
local taken = cost > p.ceiling and room or min(cost * p.period, room)
local charged = level + taken
if charged > p.capacity * p.period and amountOf(p, c[2], c[3]) > most then
  lower(p, c, (now - last) * p.limit)
  if amountOf(p, c[2], c[3]) >= charged then return taken end
end
c[2], c[3] = partsOf(p, charged)
return taken`,
  // As `readLevel` and `answerLevel`. For whole numbers below 2^53, (a - a % b) / b is floor(a / b) without a call.
  once: {
    shared: ['level'],
    read: `
local rest, most = c[3], p.ceiling * p.period
if rest < 0 then rest = 0 end
level = c[2] * p.period + (p.unit == 1 and rest or ceilDiv(rest, p.unit))
if level > most then level = most end
local drained, full = (now - last) * p.limit, p.capacity * p.period
level = drained >= level and 0 or level - drained
if level <= full then
  local free = full - level
  left = (free - free % p.period) / p.period
else
  left = -ceilDiv(level - full, p.period)
end`,
    charge: `
level = level + cost * p.period
local rest = level % p.period
c[2], c[3] = (level - rest) / p.period, rest * p.unit
pause = p.limit == 0 and huge or ceilDiv(level, p.limit)`,
  },
  refund: `
local given = refundable(p, now, cost, charged)
if given > 0 then lower(p, c, given) end`,
}
