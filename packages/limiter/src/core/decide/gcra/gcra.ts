import type { Algorithm, Plan } from '../algorithm.ts'
import {
  answerLevel,
  type BucketOptions,
  bucketOptions,
  chargeLevel,
  decideLevel,
  levelPlan,
  readLevel,
  refundLevel,
  remainingLevel,
  waitLevel,
} from '../level.ts'

/**
 * The generic cell rate algorithm (ITU-T I.371): with T = period/limit and the theoretical arrival time TAT,
 * admit while max(TAT, now) + n·T − now ≤ burst·T. TAT − now is the level over limit, so the law is the token
 * bucket's, and so is every figure, to the microsecond. Keeping the level instead of a rounded T makes it exact
 * where limit does not divide period.
 */
export const gcra: Algorithm<Plan, BucketOptions> = {
  name: 'gcra',
  isLevel: true,
  traits: { flows: true },
  options: bucketOptions,
  plan: (policy) => levelPlan(gcra, policy),
  remaining: remainingLevel,
  wait: waitLevel,
  charge: chargeLevel,
  refund: refundLevel,
  read: readLevel,
  answer: answerLevel,
  decide: decideLevel,
}
