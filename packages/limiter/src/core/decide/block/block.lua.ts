import type { Twin } from '../twin.ts'
import type { BlockPlan } from './block.ts'

/** `p[1]` refusals within `p[2]` block. */
export const blockTwin: Twin = {
  keeps: 'cells',
  size: 4,
  remaining: 'return now < c[4] and 0 or MAX',
  wait: `
local counting = cost == MAX and c[2] > 0 and c[3] + p[2] or 0
return max(0, c[4] - now, counting - now)`,
  charge: 'c[4] = max(c[4], now + cost)',
  refund: 'c[2], c[4] = 0, 0',
  refuse: `
if now < c[4] then return end
if c[2] == 0 or now - c[3] >= p[2] then c[2], c[3] = 0, now end
c[2] = c[2] + 1
if c[2] < p[1] then return end
c[2], c[4] = 0, now + p.period`,
  extras: (plan) => [(plan as BlockPlan).after, (plan as BlockPlan).within],
  extraCount: 2,
}
