import { type Dialect, dialects, type HeaderLookup, readRetryAfter } from '@sluice/limiter/respond'

/** What an answer says about the limit. Waits are in milliseconds from when it was received. */
export interface LoadAnswer {
  /** `failed`: neither admitted nor refused, such as a broken connection or a status of 500. */
  readonly fate: 'admitted' | 'refused' | 'failed'
  /** 0 where there was no answer. */
  readonly status: number
  /** Of a refusal: until the same request is admitted, as it says; `undefined` where it does not say. */
  readonly retryAfterMs?: number | undefined
  /** Whole seconds are rounded up, so the wait may be this much shorter than was said. */
  readonly roundedByMs?: number
  readonly limit?: number | undefined
  readonly remaining?: number | undefined
  /** The service decided without its store. */
  readonly degraded?: boolean
  /** The policy that decided, where the answer names it. */
  readonly policy?: string | undefined
}

/** An answer, and between which instants it was decided: milliseconds of `performance.now()`. */
export interface TimedAnswer extends LoadAnswer {
  readonly sent: number
  readonly received: number
}

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

const READERS: readonly Dialect[] = (['ietf', 'draft-07', 'draft-06', 'github', 'x-ratelimit'] as const).map(
  (name) => dialects[name](),
)

/** Reads the answer of any HTTP application: refused is 429, or 503 where a limiter says so instead. */
export function readHttpAnswer(status: number, headers: AnswerHeaders, nowMs: number): LoadAnswer {
  const lookup = lookupIn(headers)
  const figures = figuresIn(lookup, nowMs)
  if (status === 429 || status === 503) {
    const retryAfterMs = waitIn(lookup, nowMs)
    return { fate: 'refused', status, retryAfterMs, roundedByMs: 1_000, ...figures }
  }
  return { fate: status >= 500 ? 'failed' : 'admitted', status, ...figures }
}

/** Reads an answer of `POST /v1/check`, which has exact figures. */
export function readCheckAnswer(status: number, body: string): LoadAnswer {
  if (status !== 200) return { fate: 'failed', status }
  const answer = JSON.parse(body) as CheckAnswer
  return {
    fate: answer.allowed ? 'admitted' : 'refused',
    status: answer.status ?? 200,
    ...(answer.allowed ? {} : { retryAfterMs: answer.retryAfterMs ?? undefined, roundedByMs: 0 }),
    limit: answer.limit ?? undefined,
    remaining: answer.remaining ?? undefined,
    degraded: answer.degraded,
    policy: answer.policy,
  }
}

interface CheckAnswer {
  readonly allowed: boolean
  readonly policy: string
  readonly limit: number | null
  readonly remaining: number | null
  readonly retryAfterMs: number | null
  readonly status?: number
  readonly degraded: boolean
}

function waitIn(lookup: HeaderLookup, nowMs: number): number | undefined {
  const text = lookup('retry-after')
  return text ? readRetryAfter(text, nowMs, lookup('date') ?? undefined) : undefined
}

/** Of several policies, the one with the least left. */
function figuresIn(lookup: HeaderLookup, nowMs: number): Pick<LoadAnswer, 'limit' | 'remaining'> {
  for (const { read } of READERS) {
    const policies = read(lookup, nowMs)?.policies ?? []
    let least: (typeof policies)[number] | undefined
    for (const policy of policies)
      if (policy.remaining !== undefined && policy.remaining < (least?.remaining ?? Number.POSITIVE_INFINITY))
        least = policy
    if (least !== undefined) return { limit: least.limit, remaining: least.remaining }
  }
  return {}
}

function lookupIn(headers: AnswerHeaders): HeaderLookup {
  return (name) => {
    const value = headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }
}
