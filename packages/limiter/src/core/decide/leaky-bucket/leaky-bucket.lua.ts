import { levelTwin } from '../level.lua.ts'
import type { Twin } from '../twin.ts'

export const leakyBucketTwin: Twin = {
  ...levelTwin,
  once: undefined,
  size: 7,
  locals: `${levelTwin.locals}
local function chargeLevel(p, c, last, now, cost)
${levelTwin.charge}
end
local function isUntold(p, c)
  return p.limit == 0 or c[6] == 0
end
local function leadAt(p, c, last, now)
  if isUntold(p, c) then return 0 end
  local most = p.ceiling * p.period
  local lead = min(amountOf(p, c[4], c[5]), most, MAX - most)
  local left = min(amountOf(p, c[2], c[3]), most) + lead - (now - last) * p.limit
  return max(0, min(lead, left))
end
local function toldAt(p, c, now)
  if isUntold(p, c) then return 0 end
  return max(0, ceilDiv(c[6], p.unit) - now + floorDiv(p.period, p.limit))
end
local function turnIn(p, backlog)
  if backlog == 0 then return 0 end
  if p.limit == 0 then return huge end
  return ceilDiv(backlog, p.limit)
end
local function turnAt(p, c, last, now)
  local backlog = levelAt(p, c, last, now) + leadAt(p, c, last, now)
  return max(turnIn(p, backlog), toldAt(p, c, now))
end
local function keepLatest(p, c, turn)
  c[6] = min(floorDiv(MAX, p.unit), max(0, turn)) * p.unit
end`,
  charge: `
local lead, told = leadAt(p, c, last, now), toldAt(p, c, now)
local drained = turnIn(p, levelAt(p, c, last, now) + lead)
local turn = max(drained, told)
local taken = chargeLevel(p, c, last, now, cost)
c[4], c[5] = partsOf(p, lead)
c[7] = (turn == 0 or (c[7] == p.limit and told <= drained)) and p.limit or 0
if taken >= p.period and p.limit > 0 then keepLatest(p, c, now + turn) end`,
  refund: `
local given = refundable(p, now, cost, charged)
if given == 0 then return end
local level, lead = amountOf(p, c[2], c[3]), isUntold(p, c) and 0 or amountOf(p, c[4], c[5])
local ahead, start = min(MAX, level + lead), (charged - last) * p.limit
local oneUnit = start + max(0, p.period - p.limit)
local isWhole = ahead - given <= oneUnit
local isSame = p.limit > 0 and c[7] == p.limit
local isLatest = isSame and (charged == floorDiv(c[6], p.unit) or (isWhole and ahead > oneUnit))
local backlog = isLatest and max(0, ahead - given, start - p.limit + 1) or ahead
if isLatest and isWhole then keepLatest(p, c, backlog == 0 and 0 or charged - floorDiv(p.period, p.limit)) end
local most = p.ceiling * p.period
local lost = p.limit == 0 and 0 or backlog - min(most, MAX - most)
local lowered = max(0, min(given, level, level - lost))
lower(p, c, lowered)
c[4], c[5] = partsOf(p, max(0, lead + lowered - (ahead - backlog)))`,
  delay: 'return turnAt(p, c, last, now)',
  idle: 'return turnAt(p, c, last, now)',
}
