/** The problems that draft-ietf-httpapi-ratelimit-headers registers, by the last word of their type. */
export type ProblemKind = 'quota-exceeded' | 'temporary-reduced-capacity' | 'abnormal-usage-detected'

/** A body of `application/problem+json` (RFC 9457). */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: 429 | 503
  readonly detail: string
  /** URI reference of this occurrence. */
  readonly instance?: string
  /** Names of the policies that refused. */
  readonly 'violated-policies': readonly string[]
}

const REGISTERED: Readonly<Record<ProblemKind, { readonly title: string; readonly status: 429 | 503 }>> = {
  'quota-exceeded': { title: 'Quota Exceeded', status: 429 },
  'temporary-reduced-capacity': { title: 'Temporary Reduced Capacity', status: 503 },
  'abnormal-usage-detected': { title: 'Abnormal Usage Detected', status: 429 },
}

/** @param retry whole seconds to wait; undefined when no wait helps, or none is known */
export function problemOf(
  kind: ProblemKind,
  violated: readonly string[],
  retry: number | undefined,
  instance?: string,
): Problem {
  const { title, status } = REGISTERED[kind]
  return {
    type: `https://iana.org/assignments/http-problem-types#${kind}`,
    title,
    status,
    detail: detailOf(status, retry),
    ...(instance === undefined ? {} : { instance }),
    'violated-policies': violated,
  }
}

function detailOf(status: 429 | 503, retry: number | undefined): string {
  if (retry !== undefined) return `Try again in ${retry} ${retry === 1 ? 'second' : 'seconds'}.`
  return status === 429 ? 'This request is over the limit, and waiting will not help.' : 'Try again later.'
}
