import type { Question } from '../pipeline.ts'
import { WIRE_BOUNDS, type WireBounds } from './bounds.ts'
import { broken, type Mistake } from './mistake.ts'
import { questionOf, SUBJECT, type SubjectBody, subjectMistake } from './question.ts'
import { fields, read, where } from './read.ts'
import { DOMAIN, TEXT } from './values.ts'

/** The body of `POST /v1/reset`: a request, descriptors, or a policy and a key. */
export interface ResetBody extends SubjectBody {
  readonly domain: string
  readonly policy?: string
  /** As `sluice explain` shows it. */
  readonly key?: string
}

/** One key of one policy. */
export interface PolicyKey {
  readonly domain: string
  readonly policy: string
  readonly key: string
}

const RESET = where(
  fields<ResetBody>({ domain: DOMAIN }, { ...SUBJECT, policy: TEXT, key: TEXT }),
  resetMistake,
)

function resetMistake(body: ResetBody): Mistake | undefined {
  const { policy, key, request, descriptors } = body
  if (policy === undefined && key === undefined) return subjectMistake(body)
  const named = policy !== undefined && key !== undefined
  return named && request === undefined && descriptors === undefined
    ? undefined
    : broken('the body must have policy and key, or a request or descriptors')
}

/**
 * Reads the body of `POST /v1/reset`.
 * @returns the key that was named, or the question that leads to keys
 * @throws WireError with the path of the first mistake
 * @example
 * readReset({ domain: 'shop', policy: 'login', key: '192.0.2.1' })
 */
export function readReset(value: unknown, bounds: WireBounds = WIRE_BOUNDS): PolicyKey | Question {
  const body = read(RESET, value, bounds, 'the body')
  const { domain, policy, key } = body
  return policy !== undefined && key !== undefined ? { domain, policy, key } : questionOf(body)
}
