import type { Question } from '../pipeline.ts'
import { ANSWER_FIELDS, type AnswerBody } from './answer.ts'
import { WIRE_BOUNDS, type WireBounds } from './bounds.ts'
import { wrong } from './mistake.ts'
import { type QuestionBody, questionOf, SUBJECT, subjectMistake } from './question.ts'
import { type Check, fields, map, openFields, read, readUnbounded, where } from './read.ts'
import { COST, DOMAIN, wholeCheck } from './values.ts'

/** The body of `POST /v1/reserve`. */
export interface ReserveBody extends QuestionBody {
  /** Milliseconds in which it can be settled, 1 to 86,400,000 (a day). Default 60,000. */
  readonly ttl_ms?: number
}

/** The answer to it. */
export interface ReserveAnswerBody extends AnswerBody {
  /** For commit and cancel; null when nothing was reserved, since the request was refused. */
  readonly id: string | null
}

/** The body of `POST /v1/cancel`. */
export interface CancelBody {
  readonly id: string
}

/** The body of `POST /v1/commit`. Costs are whole numbers from 0 to 2^53 − 1. */
export interface CommitBody extends CancelBody {
  /** What it did cost, for limits whose cost is measured; where there are none, for those at the request's cost. */
  readonly cost?: number
  /** By the policy's name, for any. */
  readonly costs?: Readonly<Record<string, number>>
}

/** What is to be reserved. */
export interface Reserve {
  readonly question: Question
  /** Milliseconds. */
  readonly ttlMs: number
}

const MAX_TTL_MS = 86_400_000
const DEFAULT_TTL_MS = 60_000

const RESERVE = where(
  fields<ReserveBody>({ domain: DOMAIN }, { ...SUBJECT, cost: COST, ttl_ms: wholeCheck(1, MAX_TTL_MS) }),
  subjectMistake,
)

/** Text of any length that a body may have: it names each charge of the reservation. */
const ID: Check<string> = (value) =>
  typeof value === 'string' ? undefined : wrong('the id of a reservation')

const CANCEL = fields<CancelBody>({ id: ID }, {})
const COMMIT = fields<CommitBody>({ id: ID }, { cost: COST, costs: map(COST, 'maxEntries') })

const ID_OR_NULL: Check<string | null> = (value) =>
  value === null || typeof value === 'string' ? undefined : wrong('text or null')

const RESERVE_ANSWER = openFields<ReserveAnswerBody>(
  { ...ANSWER_FIELDS.required, id: ID_OR_NULL },
  ANSWER_FIELDS.optional,
)

/**
 * Reads the body of `POST /v1/reserve`.
 * @throws WireError with the path of the first mistake
 * @example
 * readReserve({ domain: 'shop', request: { path: '/chat' } }).ttlMs // 60000
 */
export function readReserve(value: unknown, bounds: WireBounds = WIRE_BOUNDS): Reserve {
  const body = read(RESERVE, value, bounds, 'the body')
  return { question: questionOf(body), ttlMs: body.ttl_ms ?? DEFAULT_TTL_MS }
}

/**
 * Reads the body of `POST /v1/commit`.
 * @throws WireError with the path of the first mistake
 * @example
 * readCommit({ id, costs: { tokens: 1234 } })
 */
export function readCommit(value: unknown, bounds: WireBounds = WIRE_BOUNDS): CommitBody {
  return read(COMMIT, value, bounds, 'the body')
}

/**
 * Reads the body of `POST /v1/cancel`.
 * @throws WireError with the path of the first mistake
 * @example
 * readCancel({ id }).id
 */
export function readCancel(value: unknown): CancelBody {
  return readUnbounded(CANCEL, value, 'the body')
}

/**
 * Reads the answer to `POST /v1/reserve`. Fields that are not known pass.
 * @throws WireError with the path of the first mistake
 * @example
 * const { allowed, id } = readReserveAnswer(await response.json())
 */
export function readReserveAnswer(value: unknown): ReserveAnswerBody {
  return readUnbounded(RESERVE_ANSWER, value, 'the answer')
}
