import type { Algorithm, Plan } from './algorithm.ts'
import type { NoOptions } from './option.ts'

/**
 * A plan of a share of the limit and burst, rounded down, at least 1; a limit of 0 stays 0.
 * @param share above 0, to 1
 * @example
 * const plan = planOf({ algorithm: 'token-bucket', limit: 10, period: '1s' })
 * shareOf(plan, 0.25).limit // 2
 */
export function shareOf(plan: Plan, share: number): Plan {
  const { source, algorithm } = plan
  if (share === 1 || source === undefined || source.limit === 0) return plan
  const part = (units: number): number => Math.max(1, Math.floor(units * share))
  const { burst } = source as { readonly burst?: number }
  const shared = {
    ...source,
    limit: part(source.limit),
    ...(burst === undefined ? undefined : { burst: part(burst) }),
  }
  // The policy was checked, and the algorithm is there: no need of all of them by name.
  return { ...(algorithm as Algorithm<Plan, NoOptions>).plan(shared), source: shared }
}
