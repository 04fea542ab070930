import type { Algorithm, Plan } from './algorithm.ts'
import { MAX, wholeNumber } from './integers.ts'
import { periodTicks } from './period.ts'
import type { BasePolicy } from './policy.ts'

/** The plan of algorithms that only count: no product, so always in microseconds, and the limit is the capacity. */
export function countingPlan(algorithm: Algorithm, policy: BasePolicy, size: number): Plan {
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
