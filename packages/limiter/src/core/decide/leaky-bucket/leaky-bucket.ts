import type { Algorithm, Plan } from '../algorithm.ts'
import { ceilDiv } from '../integers.ts'
import {
  type BucketOptions,
  bucketOptions,
  chargeLevel,
  levelAt,
  levelPlan,
  refundLevel,
  remainingLevel,
  waitLevel,
} from '../level.ts'

/**
 * A queue of depth `burst` that drains at limit/period. A request joins while its cost fits, and gets as its delay the time
 * that its predecessors need to drain. Depth 10 at 1 a second: ten at once get delays 0, 1 … 9 s, the eleventh is
 * refused with 1 s.
 */
export const leakyBucket: Algorithm<Plan, BucketOptions> = {
  name: 'leaky-bucket',
  traits: { queues: true },
  options: bucketOptions,
  plan: (policy) => levelPlan(leakyBucket, policy),
  remaining: remainingLevel,
  wait: waitLevel,
  charge: chargeLevel,
  refund: refundLevel,
  delay(plan, cells, offset, last, now) {
    const level = levelAt(plan, cells, offset, last, now)
    return level === 0 ? 0 : plan.limit === 0 ? Number.POSITIVE_INFINITY : ceilDiv(level, plan.limit)
  },
}
