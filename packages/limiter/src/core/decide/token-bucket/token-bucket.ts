import type { Algorithm, Plan } from '../algorithm.ts'
import {
  answerLevel,
  type BucketOptions,
  burst,
  chargeLevel,
  decideLevel,
  levelPlan,
  readLevel,
  refundLevel,
  remainingLevel,
  waitLevel,
} from '../level.ts'
import { type ChoiceOption, choice } from '../option.ts'
import { intervalBucket } from './interval.ts'

type TokenBucketOptions = BucketOptions & {
  /** `interval` lets `limit` tokens arrive together each whole period. Default `greedy`. */
  readonly refill: ChoiceOption<'greedy' | 'interval'>
}

/**
 * Tokens flow in continuously at limit/period, up to `burst`; a request of cost n takes n of them. Starts full.
 * In any interval I it admits at most burst + ⌊I·limit/period⌋. A bucket of 4 that gains 2 a second: four at
 * once pass, the fifth has to wait 500 ms.
 */
export const tokenBucket: Algorithm<Plan, TokenBucketOptions> = {
  name: 'token-bucket',
  isLevel: true,
  traits: { flows: true },
  options: {
    burst, // spread, it would stay in every bundle
    refill: /* @__PURE__ */ choice(
      ['greedy', 'interval'],
      'Tokens arrive continuously (greedy, the default), or all at once each period.',
    ),
  },
  plan: (policy) =>
    policy.refill === 'interval' ? intervalBucket.plan(policy) : levelPlan(tokenBucket, policy),
  remaining: remainingLevel,
  wait: waitLevel,
  charge: chargeLevel,
  refund: refundLevel,
  read: readLevel,
  answer: answerLevel,
  decide: decideLevel,
}
