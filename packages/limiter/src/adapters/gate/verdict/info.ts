import type { Decision } from '../../../core/decide/decision.ts'

/**
 * A request's figures as the application sees them: its own, which no later request changes, by the limiter that it
 * met last.
 */
export interface RateLimitInfo {
  readonly limit: number
  readonly used: number
  readonly remaining: number
  /** When the whole quota is available again; absent where nothing refills it. */
  readonly resetTime: Date | undefined
  /** The key of the quota; absent where a rulebook decided. */
  readonly key: string | undefined
  /** Name of the policy these figures are of: of several, the one that decided. */
  readonly policy: string
  /** Past the soft threshold of any policy. */
  readonly soft: boolean
  readonly decision: Decision
}

export function infoOf(decision: Decision, key: string | undefined, nowMs: number): RateLimitInfo {
  return new Info(decision, key, nowMs)
}

/** A class for the sake of what few ask for: to make a Date costs as much as the decision. */
class Info implements RateLimitInfo {
  declare readonly limit: number
  declare readonly used: number
  declare readonly remaining: number
  declare readonly key: string | undefined
  declare readonly policy: string
  declare readonly decision: Decision
  readonly #nowMs: number

  constructor(decision: Decision, key: string | undefined, nowMs: number) {
    const { limit, remaining } = decision
    this.limit = limit
    this.used = limit === Number.POSITIVE_INFINITY ? 0 : limit - remaining
    this.remaining = remaining
    this.key = key
    this.policy = decision.policy
    this.decision = decision
    this.#nowMs = nowMs
  }

  get resetTime(): Date | undefined {
    const { resetAfterMs } = this.decision
    return resetAfterMs === null ? undefined : new Date(this.#nowMs + resetAfterMs)
  }

  get soft(): boolean {
    return this.decision.policies.some(({ soft }) => soft)
  }

  toJSON(): RateLimitInfo {
    const { resetTime, soft } = this
    return { ...this, resetTime, soft }
  }
}
