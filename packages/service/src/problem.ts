import { StoreError } from '@sluice/limiter'
import { BadQuestion, UnknownDomain } from '@sluice/limiter/pipeline'
import { type ProblemBody, WireError } from '@sluice/limiter/wire'
import { HttpError, PROBLEM_TYPE, problem } from '@sluice/observe/parts'
import { OperationError, type OperationFault } from './operations/operation-error.ts'

/** HTTP's word for an operation's fault. */
const STATUS: Readonly<Record<OperationFault, number>> = { invalid: 400, unknown: 404, over: 410 }

export { HttpError, PROBLEM_TYPE, problem }

/** An error in words for the caller; a fault of the service's own (500) reveals nothing. */
export function problemBodyOf(error: unknown): ProblemBody {
  if (error instanceof HttpError) return problem(error.statusCode, error.message)
  if (error instanceof OperationError) return problem(STATUS[error.fault], error.message)
  if (error instanceof WireError || error instanceof BadQuestion) return problem(400, error.message)
  if (error instanceof UnknownDomain) return problem(404, error.message)
  if (error instanceof StoreError) return problem(503, 'the store does not answer')
  const { code, statusCode = 500 } = error as { code?: string; statusCode?: number }
  if (statusCode >= 500) return problem(500, 'the service failed; its log says how')
  return problem(statusCode, (code !== undefined && DETAILS.get(code)) || 'the request cannot be read')
}

/** Fastify's errors, by code. */
const DETAILS: ReadonlyMap<string, string> = new Map([
  ['FST_ERR_BAD_URL', 'the path cannot be decoded'],
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'the body is too large'],
  ['FST_ERR_CTP_EMPTY_JSON_BODY', 'the body is empty'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'the body is not as long as Content-Length says'],
  ['FST_ERR_CTP_INVALID_JSON_BODY', 'the body is not JSON, or has a field named __proto__'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'the body must be application/json'],
])
