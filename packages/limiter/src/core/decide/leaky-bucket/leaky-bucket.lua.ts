import { levelTwin } from '../level.lua.ts'
import type { Twin } from '../twin.ts'

export const leakyBucketTwin: Twin = {
  ...levelTwin,
  size: 6,
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
  local lead = min(amountAt(p, c, 4), most, MAX - most)
  local left = min(amountAt(p, c, 2), most) + lead - (now - last) * p.limit
  return max(0, min(lead, left))
end
local function toldAt(p, c, now)
  if isUntold(p, c) then return 0 end
  return min(MAX, max(0, ceilDiv(c[6], p.unit) - now + floorDiv(p.period, p.limit) - 1) * p.limit)
end
local function backlogAt(p, c, last, now)
  return max(levelAt(p, c, last, now) + leadAt(p, c, last, now), toldAt(p, c, now))
end
local function turnIn(p, backlog)
  if backlog == 0 then return 0 end
  if p.limit == 0 then return huge end
  return ceilDiv(backlog, p.limit)
end
local function keepLatest(p, c, turn)
  c[6] = min(floorDiv(MAX, p.unit), max(0, turn)) * p.unit
end`,
  charge: `
local lead, ahead = leadAt(p, c, last, now), backlogAt(p, c, last, now)
local taken = chargeLevel(p, c, last, now, cost)
keepAmount(p, c, 4, lead)
if taken >= p.period and p.limit > 0 then keepLatest(p, c, now + turnIn(p, ahead)) end`,
  refund: `
local given = refundable(p, now, cost, charged)
if given == 0 then return end
local level, lead = amountAt(p, c, 2), isUntold(p, c) and 0 or amountAt(p, c, 4)
local ahead = max(min(MAX, level + lead), toldAt(p, c, last))
local start = (charged - last) * p.limit
local oneUnit = start + max(0, p.period - p.limit)
local isWhole = ahead - given <= oneUnit
local isLatest = charged == floorDiv(c[6], p.unit) or (isWhole and ahead > oneUnit)
local backlog = isLatest and max(0, ahead - given, start - p.limit) or ahead
if isLatest and isWhole and p.limit > 0 then keepLatest(p, c, charged - floorDiv(p.period, p.limit)) end
local most = p.ceiling * p.period
local lost = p.limit == 0 and 0 or backlog - min(most, MAX - most)
local lowered = max(0, min(given, level, level - lost))
lower(p, c, lowered)
keepAmount(p, c, 4, max(0, lead + lowered - max(0, min(MAX, level + lead) - backlog)))`,
  delay: 'return turnIn(p, backlogAt(p, c, last, now))',
  idle: 'return turnIn(p, backlogAt(p, c, last, now))',
}
