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
  /**
   * Milliseconds until the same cost is admitted: the decision's, or of a queue how long its turn would take at least;
   * `null`: no wait helps.
   */
  readonly retryAfterMs: number | null

  constructor(decision: Decision, retryAfterMs: number | null = decision.retryAfterMs) {
    const { policy } = decision
    const wait = retryAfterMs === null ? 'waiting will not help' : `retry in ${Math.ceil(retryAfterMs)} ms`
    super('ERR_SLUICE_LIMIT_EXCEEDED', `over the limit ${JSON.stringify(policy)}: ${wait}`)
    this.decision = decision
    this.retryAfterMs = retryAfterMs
  }
}
