import { binding } from '../../core/decide/combine.ts'
import type { Decision, PolicyFigures } from '../../core/decide/decision.ts'
import type { Figures } from '../../core/decide/figures.ts'

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
  return Object.freeze({
    limit,
    used: limit === Number.POSITIVE_INFINITY ? 0 : limit - remaining,
    remaining,
    resetTime: resetAfterMs === null ? undefined : new Date(nowMs + resetAfterMs),
    key,
    policy,
    soft: policies.some(({ soft }) => soft),
    decision,
  })
}

/**
 * Two limiters' decisions on one request as one, so that its headers tell of both, and its figures are those of
 * the stricter. What was decided without the store has no figures to tell, unless it refuses.
 */
export function together(earlier: Decision, own: Decision): Decision {
  if (earlier.degraded || earlier.policy === '' || (own.degraded && !own.allowed)) return own
  if (own.degraded || own.policy === '') return earlier
  const { allowed, delayMs, priority = earlier.priority } = own
  return {
    ...stricter(earlier, own, allowed),
    allowed,
    delayMs,
    policies: distinct([...earlier.policies, ...own.policies], allowed),
    ...(priority === undefined ? undefined : { priority }),
  }
}

/** The one whose figures count, of two. */
function stricter<F extends Figures>(earlier: F, own: F, allowed: boolean): F {
  return binding([earlier, own], allowed, () => true) === 0 ? earlier : own
}

/** Clients know policies by their names: of two that share one they are told of the stricter. */
function distinct(policies: readonly PolicyFigures[], allowed: boolean): readonly PolicyFigures[] {
  const byName = new Map<string, PolicyFigures>()
  for (const own of policies) {
    const earlier = byName.get(own.policy)
    byName.set(own.policy, earlier === undefined ? own : stricter(earlier, own, allowed))
  }
  return [...byName.values()]
}
