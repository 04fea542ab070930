import type { Twin } from '../twin.ts'

export const fixedWindowTwin: Twin = {
  keeps: 'cells',
  size: 2,
  locals: `
local function used(p, c, last, now)
  return last >= now - fmod(now, p.period) and c[2] or 0
end`,
  remaining: 'return p.capacity - used(p, c, last, now)',
  wait: `
if used(p, c, last, now) + cost <= p.capacity then return 0 end
return p.period - fmod(now, p.period)`,
  charge: `
local count = used(p, c, last, now)
c[2] = count + min(cost, max(0, p.ceiling - count))`,
  once: {
    shared: ['into', 'count'],
    read: `
into = fmod(now, p.period)
count = last >= now - into and c[2] or 0
left = p.capacity - count`,
    charge: `
c[2] = count + cost
pause = p.period - into`,
  },
  refund: `
if charged >= last - fmod(last, p.period) then c[2] = max(0, c[2] - cost) end`,
}
