import type { Decision, PolicyFigures } from '../core/decide/decision.ts'
import type { RefusalReason } from '../core/respond/problem.ts'
import type { Reply } from '../pipeline.ts'
import { PROBLEM, type ProblemBody } from './problem.ts'
import { type Check, type Checks, isObject, list, map, openFields, readUnbounded } from './read.ts'
import { ANY_TEXT, exactly, FINITE, FINITE_OR_NULL, FLAG } from './values.ts'

/**
 * One policy's figures, with durations in milliseconds. Without a limit `limit` and `remaining` are null; where `limit`
 * is a number and `remaining` is null, what remains is not known: it was decided without the store.
 */
export interface FiguresBody {
  readonly policy: string
  readonly allowed: boolean
  readonly limit: number | null
  readonly remaining: number | null
  readonly retryAfterMs: number | null
  readonly moreAfterMs: number | null
  readonly resetAfterMs: number | null
  readonly delayMs: number
}

export interface PolicyBody
  extends FiguresBody,
    Pick<PolicyFigures, 'windowSeconds' | 'shadow' | 'deprioritizes' | 'soft' | 'blocked' | 'missingKey'> {}

/** The answer to `POST /v1/check`: a decision. */
export interface AnswerBody extends FiguresBody {
  /** Every policy that took part, in rule order. */
  readonly policies: readonly PolicyBody[]
  /** Names of the limits that did not apply because the request lacks a part of their key. Present where there are any. */
  readonly passedOver?: readonly string[]
  /** Made without the store, by the rule's failure policy. */
  readonly degraded: boolean
  /** Over a limit that only lowers the priority. */
  readonly priority?: 'low'
  /** What to set on the request where it is passed on to the next hop; absent where there is nothing. */
  readonly upstreamHeaders?: Readonly<Record<string, string>>
  /** On a refusal: what to answer the client with. 429: over a quota, or blocked; 503: no store; 403: no key. */
  readonly status?: 403 | 429 | 503
  /** On a refusal: why. */
  readonly reason?: RefusalReason
  /**
   * On a refusal: milliseconds for which asking the same again is refused and changes nothing, so that a client may
   * repeat the answer by itself. Absent where that is not known, or each request must be seen.
   */
  readonly repeatableMs?: number
  /**
   * On an admission: milliseconds for which units that are reserved by the same question may be granted by the client
   * itself: until the window ends in which they are charged. Absent where each request must be asked.
   */
  readonly leaseMs?: number
  /** What the caller's own client should be sent. */
  readonly headers: Readonly<Record<string, string>>
}

const FIGURES: Checks<FiguresBody> = {
  policy: ANY_TEXT,
  allowed: FLAG,
  limit: FINITE_OR_NULL,
  remaining: FINITE_OR_NULL,
  retryAfterMs: FINITE_OR_NULL,
  moreAfterMs: FINITE_OR_NULL,
  resetAfterMs: FINITE_OR_NULL,
  delayMs: FINITE,
}

const ALWAYS = exactly(true)

const POLICY = openFields<PolicyBody>(FIGURES, {
  windowSeconds: FINITE,
  shadow: ALWAYS,
  deprioritizes: ALWAYS,
  soft: ALWAYS,
  blocked: ALWAYS,
  missingKey: ALWAYS,
})

type OptionalField =
  | 'passedOver'
  | 'priority'
  | 'status'
  | 'reason'
  | 'upstreamHeaders'
  | 'repeatableMs'
  | 'leaseMs'

/** The fields of an answer, for every answer that has them. */
export const ANSWER_FIELDS: {
  readonly required: Checks<AnswerBody, Exclude<keyof AnswerBody, OptionalField>>
  readonly optional: Checks<AnswerBody, OptionalField>
} = {
  required: { ...FIGURES, policies: list(POLICY), degraded: FLAG, headers: map(ANY_TEXT) },
  optional: {
    passedOver: list(ANY_TEXT),
    priority: exactly('low'),
    upstreamHeaders: map(ANY_TEXT),
    status: exactly(403, 429, 503),
    reason: exactly('quota', 'block', 'store', 'missing-key'),
    repeatableMs: FINITE,
    leaseMs: FINITE,
  },
}

const ANSWER = openFields<AnswerBody>(ANSWER_FIELDS.required, ANSWER_FIELDS.optional)

/** Only a decision says whether it is allowed. */
const ANSWER_OR_PROBLEM: Check<AnswerBody | ProblemBody> = (value, bounds) =>
  isObject(value) && Object.hasOwn(value, 'status') && !Object.hasOwn(value, 'allowed')
    ? PROBLEM(value, bounds)
    : ANSWER(value, bounds)

const BATCH_ANSWER = list(ANSWER_OR_PROBLEM)

/**
 * A decision as it is sent to the client.
 * @example
 * answerOf(await pipeline.check(question)).allowed
 */
export function answerOf({ decision, matched, response }: Reply): AnswerBody {
  const { priority } = decision
  const { status, reason, upstreamHeaders } = response
  return {
    policy: decision.policy,
    allowed: decision.allowed,
    limit: orNull(decision.limit),
    remaining: orNull(decision.remaining),
    retryAfterMs: decision.retryAfterMs,
    moreAfterMs: decision.moreAfterMs,
    resetAfterMs: decision.resetAfterMs,
    delayMs: decision.delayMs,
    policies: decision.policies,
    ...(matched.missing.length > 0 && { passedOver: matched.missing }),
    degraded: decision.degraded,
    ...(priority !== undefined && { priority }),
    ...(status !== 200 && reason !== undefined && { status, reason }),
    headers: headerMap(response),
    ...(upstreamHeaders && { upstreamHeaders: Object.fromEntries(upstreamHeaders) }),
  }
}

/**
 * Reads the answer to `POST /v1/check`. Fields that are not known pass, so that a service may be newer than its
 * client.
 * @throws WireError with the path of the first mistake
 * @example
 * const { allowed, headers } = readAnswer(await response.json())
 */
export function readAnswer(value: unknown): AnswerBody {
  return readUnbounded(ANSWER, value, 'the answer')
}

/**
 * Reads the answer to `POST /v1/check/batch`: for each request its answer, or the problem with it. Only an answer has
 * `allowed`.
 * @throws WireError with the path of the first mistake
 * @example
 * const allowed = readBatchAnswer(body).map((item) => 'allowed' in item && item.allowed)
 */
export function readBatchAnswer(value: unknown): readonly (AnswerBody | ProblemBody)[] {
  return readUnbounded(BATCH_ANSWER, value, 'the answer')
}

/**
 * The decision that an answer states: `limit` and `remaining` are infinite again where there is no limit. A `remaining`
 * that is not known stays null.
 * @example
 * decisionFrom(readAnswer(await response.json())).remaining
 */
export function decisionFrom(body: AnswerBody): Decision {
  const { headers, upstreamHeaders, status, reason, passedOver, repeatableMs, leaseMs, ...answer } = body
  return { ...answer, ...limitsOf(answer), policies: answer.policies.map(policyFrom) }
}

function policyFrom(body: PolicyBody): PolicyFigures {
  return { ...body, ...limitsOf(body) }
}

function limitsOf({ limit, remaining }: FiguresBody): Pick<Decision, 'limit' | 'remaining'> {
  return {
    limit: limit ?? Number.POSITIVE_INFINITY,
    remaining: limit === null ? (remaining ?? Number.POSITIVE_INFINITY) : remaining,
  }
}

function orNull(value: number | null): number | null {
  return value === Number.POSITIVE_INFINITY ? null : value
}

/** All but the type of a body that the caller will write itself. */
function headerMap({ headers }: Reply['response']): Record<string, string> {
  return Object.fromEntries(headers.filter(([name]) => name !== 'Content-Type'))
}
