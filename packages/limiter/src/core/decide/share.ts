import type { Plan } from './algorithm.ts'
import { planOf, policyOf } from './algorithms.ts'

/**
 * A plan of a share of the limit and burst, rounded down, at least 1; a limit of 0 stays 0.
 * @param share above 0, to 1
 * @example
 * const plan = planOf({ algorithm: 'token-bucket', limit: 10, period: '1s' })
 * shareOf(plan, 0.25).limit // 2
 */
export function shareOf(plan: Plan, share: number): Plan {
  if (share === 1 || plan.source === undefined || plan.source.limit === 0) return plan
  const policy = policyOf(plan)
  const part = (units: number): number => Math.max(1, Math.floor(units * share))
  return planOf({
    ...policy,
    limit: part(policy.limit),
    ...(policy.burst === undefined ? undefined : { burst: part(policy.burst) }),
  })
}
