import { type Check, openFields, readUnbounded } from './read.ts'
import { ANY_TEXT, FINITE } from './values.ts'

/** A body of `application/problem+json` (RFC 9457), as the service answers a mistake. */
export interface ProblemBody {
  /** `about:blank`: the status says what kind of problem it is. */
  readonly type: string
  /** The status's own phrase. */
  readonly title: string
  /** The status of HTTP: 400 to 599. */
  readonly status: number
  /** What is wrong, and where. */
  readonly detail: string
}

export const PROBLEM: Check<ProblemBody> = openFields<ProblemBody>(
  { type: ANY_TEXT, title: ANY_TEXT, status: FINITE, detail: ANY_TEXT },
  {},
)

/**
 * Reads the body of an answer that is no decision. Fields that are not known pass.
 * @throws WireError with the path of the first mistake
 * @example
 * const { status, detail } = readProblem(await response.json())
 */
export function readProblem(value: unknown): ProblemBody {
  return readUnbounded(PROBLEM, value, 'the problem')
}
