import { type Decision, receipt } from '../../core/decide/decision.ts'
import { isLease } from '../../core/decide/step.ts'
import type { Key } from '../../limiter.ts'
import type { Arrival, Native } from './arrival.ts'
import type { ActualCost } from './options.ts'
import type { Soon } from './soon.ts'
import type { Caller } from './whose.ts'

/** Where a gate's decisions come from: policies of its own, a limiter, or a rulebook. */
export interface Quotas<N extends Native> {
  ask(arrival: Arrival<N>, caller: Caller, cost: number): Soon<Decision>
  /** Corrects a decision's charge to `actual`, if given, and ends leases. To be called once at most. */
  settle(decision: Decision, actual?: ActualCost): unknown
  /** What the next request of a key would be told; changes nothing. */
  peek(key: Key): Promise<Decision>
  reset(key: Key): Promise<void>
}

/** A lease ends with the request, however it ends; all else stays charged. */
export function holdsLease(decision: Decision): boolean {
  const steps = decision[receipt]?.steps ?? []
  for (let i = 0; i < steps.length; i++) if (isLease(steps[i]!)) return true
  return false
}
