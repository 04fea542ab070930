import type { Plan } from '../../core/decide/algorithm.ts'
import { planOf } from '../../core/decide/algorithms.ts'
import type { Step } from '../../core/decide/step.ts'

/** A step of cost 1 for a key of its own, unless told. */
export function stepOf(plan: Plan, more?: Partial<Step>): Step {
  const lease = plan.algorithm.name === 'concurrency' ? { lease: 1 } : undefined
  return { plan, policy: 'p', key: crypto.randomUUID(), cost: 1, role: 'enforce', ...lease, ...more }
}

export function per90s(limit: number): Plan {
  return planOf({ algorithm: 'gcra', limit, period: '90s' })
}
