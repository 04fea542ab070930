import type { Decision } from '@sluice/limiter'

/** What spans say of a decision. Never a key: spans leave the process. */
export interface DecisionAttributes {
  readonly 'sluice.domain': string
  /** The policy that decided; absent where none applied. */
  readonly 'sluice.policy'?: string
  readonly 'sluice.outcome': 'allowed' | 'denied'
  /** Absent where no limit applied. */
  readonly 'sluice.limit'?: number
  /** Absent where it is not known, and where no limit applied. */
  readonly 'sluice.remaining'?: number
  /** Milliseconds; absent where the request was admitted, or no wait helps. */
  readonly 'sluice.retry_after_ms'?: number
  /** Made without the store. */
  readonly 'sluice.degraded'?: true
}

/**
 * What a span says of a decision.
 * @example
 * span.setAttributes(decisionAttributes('shop', limiter.check('ada')))
 */
export function decisionAttributes(
  domain: string,
  { allowed, policy, limit, remaining, retryAfterMs, degraded }: Decision,
): DecisionAttributes & Record<string, string | number | boolean> {
  return {
    'sluice.domain': domain,
    ...(policy !== '' && { 'sluice.policy': policy }),
    'sluice.outcome': allowed ? 'allowed' : 'denied',
    ...(limit !== null && Number.isFinite(limit) && { 'sluice.limit': limit }),
    ...(remaining !== null && Number.isFinite(remaining) && { 'sluice.remaining': remaining }),
    ...(!allowed && retryAfterMs !== null && { 'sluice.retry_after_ms': retryAfterMs }),
    ...(degraded && { 'sluice.degraded': true }),
  }
}
