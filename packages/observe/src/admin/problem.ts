import { STATUS_CODES } from 'node:http'
import type { ProblemBody } from '@sluice/limiter/wire'

export const PROBLEM_TYPE = 'application/problem+json'

/**
 * What is not done, and why, in words for the caller.
 * @example
 * throw new HttpError(404, 'there is no such policy')
 */
export class HttpError extends Error {
  readonly statusCode: number

  constructor(statusCode: number, detail: string) {
    super(detail)
    this.statusCode = statusCode
  }
}

/**
 * With `about:blank` the title is the status's own phrase (RFC 9457 §4.2.1).
 * @example
 * problem(404, 'there is no such policy').title // 'Not Found'
 */
export function problem(status: number, detail: string): ProblemBody {
  return { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail }
}
