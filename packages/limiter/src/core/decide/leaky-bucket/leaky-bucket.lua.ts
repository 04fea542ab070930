import { levelTwin } from '../level.lua.ts'
import type { Twin } from '../twin.ts'

export const leakyBucketTwin: Twin = {
  ...levelTwin,
  size: 4,
  locals: `${levelTwin.locals}
local function backlogAt(p, c, now)
  local level, latest = levelAt(p, c, now), c[4]
  if p.limit == 0 or latest == 0 then return level end
  local drained = c[3] - (now - c[1]) * p.limit
  local told = (latest - now + floorDiv(p.period, p.limit) - 1) * p.limit
  return min(MAX, max(level, drained, told))
end
local function turnIn(p, backlog)
  if backlog == 0 then return 0 end
  if p.limit == 0 then return huge end
  return ceilDiv(backlog, p.limit)
end`,
  charge: `
local before, ahead = levelAt(p, c, now), backlogAt(p, c, now)
${levelTwin.charge}
local grown = c[2] - before
c[3] = min(MAX, ahead + grown)
if grown >= p.period and p.limit > 0 then c[4] = min(MAX, now + turnIn(p, ahead)) end`,
  refund: `
local given = refundable(p, now, cost, charged)
if given == 0 then return end
local last = c[1]
local level, ahead, start = c[2], backlogAt(p, c, last), (charged - last) * p.limit
local oneUnit = start + max(0, p.period - p.limit)
local isWhole = ahead - given <= oneUnit
local isLatest = charged == c[4] or (isWhole and ahead > oneUnit)
local backlog = isLatest and max(0, ahead - given, start - p.limit) or ahead
if isLatest and isWhole and p.limit > 0 then c[4] = min(MAX, max(0, charged - floorDiv(p.period, p.limit))) end
local most = p.ceiling * p.period
local lost = p.limit == 0 and 0 or backlog - min(most, MAX - most)
c[2] = min(level, max(0, level - given, lost))
c[3] = max(backlog, c[2])`,
  delay: 'return turnIn(p, backlogAt(p, c, now))',
  idle: 'return turnIn(p, backlogAt(p, c, now))',
}
