import type { Twin } from '../twin.ts'

/**
 * The caller keeps the leases: `held(c, now)` are the units of those that live, `freedAt(c, now, units)` is when
 * so many of them will have ended, `hold(c, now, till, name, units)` adds one, `release(c, name, units)` gives back.
 */
export const concurrencyTwin: Twin = {
  keeps: 'leases',
  remaining: 'return p.capacity - held(c, now)',
  wait: `
local missing = cost - (p.capacity - held(c, now))
if missing <= 0 then return 0 end
return freedAt(c, now, missing) - now`,
  charge: 'hold(c, now, now + p.period, lease, min(cost, max(0, p.ceiling - held(c, now))))',
  refund: 'release(c, lease, cost)',
}
