import type { ActualCost } from '../../../core/decide/charges.ts'
import type { CostByName } from '../../../core/decide/cost.ts'
import type { Decision } from '../../../core/decide/decision.ts'
import type { MaybePromise } from '../../../maybe-promise.ts'
import type { Key, Keys } from '../../../policy-steps.ts'
import type { Caller } from '../caller/caller-key.ts'
import type { FrameworkArgs, IncomingRequest } from '../incoming-request.ts'

/** Where a gate's decisions come from: policies of its own, a limiter, or rules. */
export interface LimitSource<N extends FrameworkArgs> {
  check(request: IncomingRequest<N>, caller: Caller, cost: number | CostByName): MaybePromise<Decision>
  /** Corrects a decision's charge to `actual`, if given, and releases slots. To be called once at most. */
  settle(decision: Decision, actual?: ActualCost): unknown
  /** What the next request of a key would get; changes nothing. */
  peek(key: Key | Keys): Promise<Decision>
  reset(key: Key | Keys): Promise<void>
  /** Whether a decision of these may hold a slot. */
  readonly holds: boolean
}
