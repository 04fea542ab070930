import type { Decision } from '../../core/decide/decision.ts'

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
  /** Whose quota; absent where a rulebook decided. */
  readonly key: string | undefined
  /** Name of the policy these figures are of: of several, the one that decided. */
  readonly policy: string
  /** Past the soft threshold of any policy. */
  readonly soft: boolean
  readonly decision: Decision
}

export function infoOf(decision: Decision, key: string | undefined, nowMs: number): RateLimitInfo {
  const { limit, remaining, policy, policies, resetAfterMs } = decision
  return {
    limit,
    used: limit === Number.POSITIVE_INFINITY ? 0 : limit - remaining,
    remaining,
    resetTime: resetAfterMs === null ? undefined : new Date(nowMs + resetAfterMs),
    key,
    policy,
    soft: policies.some(isSoft),
    decision,
  }
}

function isSoft({ soft }: Decision['policies'][number]): boolean {
  return soft === true
}
