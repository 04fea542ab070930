/**
 * Why a request was refused: it is over a `quota`, or under a `block`; it was decided without the `store`; it lacks a
 * part of a key without which its rule refuses (`missing-key`).
 */
export type RefusalReason = 'quota' | 'block' | 'store' | 'missing-key'

/** The problems that draft-ietf-httpapi-ratelimit-headers registers, by the last word of their type. */
export type ProblemKind = 'quota-exceeded' | 'temporary-reduced-capacity' | 'abnormal-usage-detected'

/** A body of `application/problem+json` (RFC 9457). */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: 403 | 429 | 503
  readonly detail: string
  /** URI reference of this occurrence. */
  readonly instance?: string
  /** Names of the policies that refused. */
  readonly 'violated-policies': readonly string[]
}

const OF_REASON: Readonly<Record<RefusalReason, Pick<Problem, 'type' | 'title' | 'status'>>> = {
  quota: { type: registered('quota-exceeded'), title: 'Quota Exceeded', status: 429 },
  block: { type: registered('abnormal-usage-detected'), title: 'Abnormal Usage Detected', status: 429 },
  store: { type: registered('temporary-reduced-capacity'), title: 'Temporary Reduced Capacity', status: 503 },
  'missing-key': { type: 'about:blank', title: 'Forbidden', status: 403 },
}

function registered(kind: ProblemKind): string {
  return `https://iana.org/assignments/http-problem-types#${kind}`
}

/** @param retry whole seconds to wait; undefined when no wait helps, or none is known */
export function problemOf(
  reason: RefusalReason,
  violated: readonly string[],
  retry: number | undefined,
  instance?: string,
): Problem {
  const { type, title, status } = OF_REASON[reason]
  return {
    type,
    title,
    status,
    detail: detailOf(reason, retry),
    ...(instance === undefined ? {} : { instance }),
    'violated-policies': violated,
  }
}

function detailOf(reason: RefusalReason, retry: number | undefined): string {
  if (reason === 'missing-key')
    return 'This request lacks what its limit counts by, and is refused without it.'
  if (retry !== undefined) return `Try again in ${retry} ${retry === 1 ? 'second' : 'seconds'}.`
  return reason === 'store'
    ? 'Try again later.'
    : 'This request is over the limit, and waiting will not help.'
}
