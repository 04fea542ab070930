import type { Decision } from '@sluice/limiter'
import { Throttled } from '../retry/throttled.ts'

/**
 * A call was refused by a budget of ours, before anything was sent.
 * @example
 * if (error instanceof BudgetExceeded) console.log(error.decision.policy, error.retryAfterMs)
 */
export class BudgetExceeded extends Throttled {
  readonly decision: Decision

  constructor(decision: Decision) {
    super({ reason: 'limit', retryAfterMs: decision.retryAfterMs ?? undefined, policy: decision.policy })
    this.decision = decision
  }
}
