import type { Decision } from './core/decide/decision.ts'
import { SluiceError } from './core/errors.ts'

/**
 * A refusal as an error to catch: `ERR_SLUICE_LIMIT_EXCEEDED`. Its `decision` has the figures.
 * @example
 * try {
 *   await limiter.limitOrThrow('ada')
 * } catch (error) {
 *   if (error instanceof LimitExceeded) console.log(error.decision.retryAfterMs)
 * }
 */
export class LimitExceeded extends SluiceError {
  readonly decision: Decision

  constructor(decision: Decision) {
    const { policy, retryAfterMs } = decision
    const wait = retryAfterMs === null ? 'waiting will not help' : `retry in ${Math.ceil(retryAfterMs)} ms`
    super('ERR_SLUICE_LIMIT_EXCEEDED', `over the limit ${JSON.stringify(policy)}: ${wait}`)
    this.decision = decision
  }
}
