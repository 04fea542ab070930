import type { Plan } from '../algorithm.ts'
import type { Twin } from '../twin.ts'

/** `p[1]` is 1 where the carried weight is rounded up. */
export const slidingWindowCounterTwin: Twin = {
  keeps: 'cells',
  size: 3,
  locals: `
local function counts(p, c, last, now)
  local windows = floorDiv(now, p.period) - floorDiv(last, p.period)
  if windows == 0 then return c[2], c[3] end
  if windows == 1 then return c[3], 0 end
  return 0, 0
end
local function countable(p, prev)
  return min(prev, floorDiv(MAX, p.period))
end
local function decayed(p, prev, weight)
  local from = countable(p, prev)
  if from <= weight then return 0 end
  local share = p[1] == 1 and weight * p.period or (weight + 1) * p.period - 1
  return p.period - floorDiv(share, from)
end`,
  remaining: `
local prev, cur = counts(p, c, last, now)
if prev == 0 then return p.capacity - cur end
local share = countable(p, prev) * (p.period - fmod(now, p.period))
return p.capacity - (p[1] == 1 and ceilDiv or floorDiv)(share, p.period) - cur`,
  wait: `
local prev, cur = counts(p, c, last, now)
local elapsed = fmod(now, p.period)
if cur + cost <= p.capacity then return max(0, decayed(p, prev, p.capacity - cost - cur) - elapsed) end
return p.period - elapsed + decayed(p, cur, p.capacity - cost)`,
  charge: `
local prev, cur = counts(p, c, last, now)
c[2] = prev
c[3] = cur + min(cost, max(0, p.ceiling - cur))`,
  refund: `
local behind = floorDiv(last, p.period) - floorDiv(charged, p.period)
local i = behind <= 0 and 3 or 2
if behind <= 1 then c[i] = max(0, c[i] - cost) end`,
  extras: (plan) => [(plan as Plan & { readonly rounding: string }).rounding === 'up' ? 1 : 0],
  extraCount: 1,
}
