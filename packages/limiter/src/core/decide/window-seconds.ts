import type { Plan } from './algorithm.ts'

/**
 * Seconds in which a policy grants its whole capacity, as `w` of RateLimit-Policy wants it: a window's length, or
 * the time in which an empty bucket fills; may carry a fraction. `undefined` for slots that are held: they have no window.
 */
export function windowSecondsOf(plan: Plan): number | undefined {
  if (plan.algorithm.traits.holds) return undefined
  const seconds = (plan.period * plan.unit) / 1_000_000
  return plan.limit === 0 || plan.capacity === plan.limit ? seconds : (seconds * plan.capacity) / plan.limit
}
