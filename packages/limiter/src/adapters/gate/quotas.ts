import { type Decision, receipt } from '../../core/decide/decision.ts'
import type { Key } from '../../limiter.ts'
import type { Arrival, Native } from './arrival.ts'
import type { ActualCost } from './options.ts'
import type { Soon } from './soon.ts'

/** One request, as far as its quota goes. */
export interface Question<N extends Native> {
  readonly arrival: Arrival<N>
  readonly address: string | undefined
  readonly key: Key
  /** The key as lists name it. */
  readonly shown: string
  readonly cost: number
}

export interface Asked {
  readonly decision: Decision
  /** Corrects the charge to `actual`, if given, and ends leases. To be called once at most. */
  settle(actual?: ActualCost): unknown
}

/** Where a gate's decisions come from: policies of its own, a limiter, or a rulebook. */
export interface Quotas<N extends Native> {
  ask(question: Question<N>): Soon<Asked>
  /** What the next request of a key would be told; changes nothing. */
  peek(key: Key): Promise<Decision>
  reset(key: Key): Promise<void>
}

/** A lease ends with the request, however it ends; all else stays charged. */
export function holdsLease(decision: Decision): boolean {
  return decision[receipt]?.steps.some(({ plan }) => plan.algorithm.name === 'concurrency') ?? false
}
