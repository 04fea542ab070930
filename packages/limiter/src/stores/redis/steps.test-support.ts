import type { Plan } from '../../core/decide/algorithm.ts'
import { planOf } from '../../core/decide/algorithms.ts'
import { type StepOptions, stepFor } from '../../testing.ts'
import type { Step } from '../store.ts'

/** A step of cost 1 for a key of its own, unless `more` says otherwise. */
export function stepOf(plan: Plan, more?: StepOptions): Step {
  const chargeId = plan.algorithm.traits.holds ? { chargeId: 1 } : undefined
  return stepFor(plan, { key: crypto.randomUUID(), ...chargeId, ...more })
}

/** None comes back while a test runs. */
export function per90d(limit: number): Plan {
  return planOf({ algorithm: 'gcra', limit, period: '90d' })
}
