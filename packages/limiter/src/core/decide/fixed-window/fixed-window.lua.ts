import type { Twin } from '../twin.ts'

export const fixedWindowTwin: Twin = {
  keeps: 'cells',
  size: 2,
  locals: `
local function used(p, c, now)
  return c[1] >= now - fmod(now, p.period) and c[2] or 0
end`,
  remaining: 'return p.capacity - used(p, c, now)',
  wait: `
if used(p, c, now) + cost <= p.capacity then return 0 end
return p.period - fmod(now, p.period)`,
  charge: `
local count = used(p, c, now)
c[2] = count + min(cost, max(0, p.ceiling - count))`,
  refund: `
if charged >= c[1] - fmod(c[1], p.period) then c[2] = max(0, c[2] - cost) end`,
}
