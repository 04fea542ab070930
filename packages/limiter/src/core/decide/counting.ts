import type { Algorithm, Plan } from './algorithm.ts'
import { MAX, wholeNumber } from './integers.ts'
import { periodTicks, refuseOptions } from './period.ts'
import type { Policy } from './policy.ts'

/** The plan of algorithms that only count: no product, so always in microseconds, and the limit is the capacity. */
export function countingPlan(algorithm: Algorithm, policy: Policy, size: number): Plan {
  refuseOptions(policy, 'burst', 'refill', 'rounding')
  const limit = wholeNumber('limit', policy.limit, 0)
  const period = periodTicks(policy)
  return {
    algorithm,
    kind: `${algorithm.name}/${period}`,
    capacity: limit,
    limit,
    period,
    unit: 1,
    size,
    ceiling: Math.min(limit * 2, MAX),
  }
}
