import { algorithms } from '../../core/decide/algorithms.ts'
import { type Decision, receipt } from '../../core/decide/decision.ts'
import { isLease } from '../../core/decide/step.ts'
import type { Key, Limiter } from '../../limiter.ts'
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
  /** Whether a decision of these can hold a lease. */
  readonly leases: boolean
}

/** Whether a limiter has policies whose charges end with the request. */
export function hasLeases({ policies }: Pick<Limiter, 'policies'>): boolean {
  return Object.values(policies).some(({ algorithm }) => algorithms[algorithm].leases === true)
}

/** A lease ends with the request, however it ends; all else stays charged. */
export function holdsLease(decision: Decision): boolean {
  return decision[receipt]?.steps.some(isLease) === true
}
