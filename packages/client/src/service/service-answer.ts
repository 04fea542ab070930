import type { Decision } from '@sluice/limiter'
import { type AnswerBody, decisionFrom } from '@sluice/limiter/wire'

/** A decision of the service, and what to tell whoever sent the request. */
export interface ServiceAnswer<Name extends string = string>
  extends Decision<Name>,
    Pick<AnswerBody, 'headers' | 'upstreamHeaders' | 'status' | 'reason' | 'passedOver'> {}

/** The answer to a reservation: `id` is null where nothing can be settled, since it was refused or is degraded. */
export interface ReservedServiceAnswer<Name extends string = string> extends ServiceAnswer<Name> {
  readonly id: string | null
}

export function serviceAnswerOf(body: AnswerBody): ServiceAnswer {
  const { headers, upstreamHeaders, status, reason, passedOver } = body
  return {
    ...decisionFrom(body),
    headers,
    ...(upstreamHeaders && { upstreamHeaders }),
    ...(status && { status }),
    ...(reason && { reason }),
    ...(passedOver && { passedOver }),
  }
}

/**
 * An answer without the service. No limit is known, so no figures are.
 * @param retryInMs a refusal says when the service is asked again: milliseconds
 */
export function answerWithout(allowed: boolean, retryInMs: number): ServiceAnswer {
  return {
    allowed,
    policy: '',
    limit: Number.POSITIVE_INFINITY,
    remaining: null,
    retryAfterMs: allowed ? 0 : retryInMs,
    moreAfterMs: null,
    resetAfterMs: null,
    delayMs: 0,
    policies: [],
    degraded: true,
    ...(allowed
      ? { headers: {} }
      : {
          status: 503,
          reason: 'store',
          headers: { 'Retry-After': String(Math.ceil(retryInMs / 1_000)), 'Cache-Control': 'no-store' },
        }),
  }
}

/** An answer as it reads `ms` milliseconds later, where only waits have changed. Headers count whole seconds, and stay. */
export function laterAnswer(body: AnswerBody, ms: number): AnswerBody {
  const later = <T extends AnswerBody | AnswerBody['policies'][number]>(figures: T): T => ({
    ...figures,
    retryAfterMs: shorter(figures.retryAfterMs, ms),
    moreAfterMs: shorter(figures.moreAfterMs, ms),
    resetAfterMs: shorter(figures.resetAfterMs, ms),
  })
  return { ...later(body), policies: body.policies.map(later) }
}

/** In whole microseconds, as waits are counted. */
function shorter(wait: number | null, ms: number): number | null {
  return wait === null ? null : Math.max(0, Math.round((wait - ms) * 1_000) / 1_000)
}
