import { type Decision, decisionOf } from '../../../core/decide/decision.ts'

/**
 * A request's figures as the application sees them: its own, which no later request changes, by the limiter that it
 * met last. They are always there, so that no handler breaks where no limit applied (no rule matched, all are in shadow
 * mode, the request is skipped or exempt, the store does not answer): then `limit` and `remaining` are infinite. Of a
 * request that is refused without the store `remaining` is 0. `decision` says what is known, and null for the rest.
 */
export interface RateLimitInfo {
  readonly limit: number
  readonly used: number
  readonly remaining: number
  /** When the whole quota is available again: now, where all of it is; `undefined` where nothing refills it. */
  readonly resetTime: Date | undefined
  /** The key of the quota; `''` where a rulebook decided, or nothing asked for it. */
  readonly key: string
  /** Name of the policy these figures are of: of several, the one that decided; `''` where no limit applied. */
  readonly policy: string
  /** Past the soft threshold of any policy. */
  readonly soft: boolean
  /** `low`: over a limit that only lowers the priority; to be served last, or passed on as such. */
  readonly priority: 'normal' | 'low'
  readonly decision: Decision
}

/** The latest instant that a Date can have, in milliseconds since the epoch. */
const LATEST = 8.64e15

/** Where no limit applied. */
export const UNLIMITED: Decision = /* @__PURE__ */ decisionOf([], { allowed: true, at: 0, figures: [] }, true)

/** @param lowered an earlier limiter of the request has lowered its priority */
export function infoOf(
  decision: Decision,
  key: string | undefined,
  nowMs: number,
  lowered: boolean = false,
): RateLimitInfo {
  return new Info(decision, key ?? '', nowMs, lowered || decision.priority === 'low')
}

/**
 * A decision that refuses without a quota: whoever calls, and whenever.
 * @param policy what stands for a policy's name
 */
export function refusedFor(policy: string): Decision {
  return {
    allowed: false,
    policy,
    limit: 0,
    remaining: 0,
    retryAfterMs: null,
    moreAfterMs: null,
    resetAfterMs: 0,
    delayMs: 0,
    policies: [],
    degraded: false,
  }
}

/** Not where no limit applied, or where the request was admitted without the store, and not by a local limit. */
export function hasFigures({ policy, remaining, allowed }: Decision): boolean {
  return policy !== '' && (remaining !== null || !allowed)
}

/** The same decision, with the figures of one that no limit applied to. */
export function withoutFigures(decision: Decision): Decision {
  const { policy, policies, degraded } = decision
  return policy === '' ? decision : { ...UNLIMITED, policies, degraded }
}

/** A class for the sake of what few ask for: to make a Date costs as much as the decision. */
class Info implements RateLimitInfo {
  declare readonly limit: number
  declare readonly used: number
  declare readonly remaining: number
  declare readonly key: string
  declare readonly policy: string
  declare readonly priority: 'normal' | 'low'
  declare readonly decision: Decision
  readonly #nowMs: number

  constructor(decision: Decision, key: string, nowMs: number, low: boolean) {
    const { limit } = decision
    const remaining = decision.remaining ?? 0 // refused, and what is left is not known: nothing can be used
    this.limit = limit
    this.used = limit === Number.POSITIVE_INFINITY ? 0 : limit - remaining
    this.remaining = remaining
    this.key = key
    this.policy = decision.policy
    this.priority = low ? 'low' : 'normal'
    this.decision = decision
    this.#nowMs = nowMs
  }

  get resetTime(): Date | undefined {
    const { resetAfterMs } = this.decision
    return resetAfterMs === null ? undefined : new Date(Math.min(this.#nowMs + resetAfterMs, LATEST))
  }

  get soft(): boolean {
    return this.decision.policies.some(({ soft }) => soft)
  }

  toJSON(): RateLimitInfo {
    const { resetTime, soft } = this
    return { ...this, resetTime, soft }
  }
}
