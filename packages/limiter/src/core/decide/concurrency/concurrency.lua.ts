import type { Twin } from '../twin.ts'

/**
 * The caller keeps the slots: `held(c, now)` are the units of those that live, `freedAt(c, now, units)` is when so many
 * of them will have expired, `hold(c, now, till, chargeId, units)` adds one, `release(c, chargeId, units)` gives back.
 */
export const concurrencyTwin: Twin = {
  keeps: 'slots',
  remaining: 'return p.capacity - held(c, now)',
  wait: `
local missing = cost - (p.capacity - held(c, now))
if missing <= 0 then return 0 end
return freedAt(c, now, missing) - now`,
  charge: 'hold(c, now, now + p.period, chargeId, min(cost, max(0, p.ceiling - held(c, now))))',
  refund: 'release(c, chargeId, cost)',
}
