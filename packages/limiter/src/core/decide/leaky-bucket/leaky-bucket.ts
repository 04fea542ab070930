import type { Algorithm, Plan } from '../algorithm.ts'
import { ceilDiv } from '../integers.ts'
import { chargeLevel, levelAt, levelPlan, refundLevel, remainingLevel, waitLevel } from '../level.ts'
import { refuseOptions } from '../period.ts'
import type { Policy } from '../policy.ts'

/**
 * A queue of depth `burst` that drains at limit/period. A request joins while its cost fits, and is told how long
 * its predecessors need to drain. Depth 10 at 1 a second: ten at once get delays 0, 1 … 9 s, the eleventh is
 * refused with 1 s.
 */
export const leakyBucket: Algorithm = {
  name: 'leaky-bucket',
  plan(policy: Policy): Plan {
    refuseOptions(policy, 'refill')
    return levelPlan(leakyBucket, policy)
  },
  remaining: remainingLevel,
  wait: waitLevel,
  charge: chargeLevel,
  refund: refundLevel,
  delay(plan, cells, at, now) {
    const level = levelAt(plan, cells, at, now)
    return level === 0 ? 0 : plan.limit === 0 ? Number.POSITIVE_INFINITY : ceilDiv(level, plan.limit)
  },
}
