import { ConfigError } from '../../errors.ts'
import type { Algorithm } from '../algorithm.ts'
import { chargeLevel, levelPlan, refundLevel, remainingLevel, waitLevel } from '../level.ts'
import type { Policy } from '../policy.ts'
import { intervalBucket } from './interval.ts'

/**
 * Tokens flow in continuously at limit/period, up to `burst`; a request of cost n takes n of them. Starts full.
 * In any interval I it admits at most burst + ⌊I·limit/period⌋. A bucket of 4 that gains 2 a second: four at
 * once pass, the fifth is told 500 ms.
 */
export const tokenBucket: Algorithm = {
  name: 'token-bucket',
  plan(policy: Policy) {
    const { refill = 'greedy' } = policy
    if (refill === 'interval') return intervalBucket.plan(policy)
    if (refill !== 'greedy') throw new ConfigError(`refill must be greedy or interval, not ${String(refill)}`)
    return levelPlan(tokenBucket, policy)
  },
  remaining: remainingLevel,
  wait: waitLevel,
  charge: chargeLevel,
  refund: refundLevel,
}
