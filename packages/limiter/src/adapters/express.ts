import type { NextFunction, Request, Response } from 'express'
import type { Key } from '../limiter.ts'
import { createGate } from './gate/gate.ts'
import { arrivalOf, judged, type RateLimitInfo, refuse } from './gate/node-http.ts'
import type { GateOptions } from './gate/options.ts'

export type { RateLimitInfo }

export interface ExpressOptions extends GateOptions<[Request, Response]> {
  /** Answers refusals by a quota in place of `message` and `statusCode`; the headers are set. */
  readonly handler?: (
    request: Request,
    response: Response,
    next: NextFunction,
    info: RateLimitInfo,
  ) => unknown
}

export interface RateLimitMiddleware {
  (request: Request, response: Response, next: NextFunction): void
  /** Forgets what a key has used. */
  resetKey(key: Key): Promise<void>
  /** A key's figures now. */
  getKey(key: Key): Promise<RateLimitInfo>
}

/**
 * Middleware for Express 4 and 5. One that is used in several places limits them together, and counts a request
 * once. Failures go to `next`.
 * @throws ConfigError for options that mean nothing
 */
export function rateLimit(options: ExpressOptions): RateLimitMiddleware {
  const { handler } = options
  const gate = createGate<[Request, Response]>(options, ['handler'])
  const pass = async (request: Request, response: Response, next: NextFunction): Promise<boolean> => {
    const verdict = await judged(gate, arrivalOf(request, [request, response]), {
      response,
      setHeader: (name, value) => response.setHeader(name, value),
      getHeader: (name) => response.getHeader(name),
      show: (name, info) => Object.assign(request, { [name]: info }),
    })
    if (verdict?.refusal === undefined) return verdict !== undefined
    if (handler !== undefined && verdict.info !== undefined)
      await handler(request, response, next, verdict.info)
    else refuse(response, verdict.refusal)
    return false
  }
  const middleware = (request: Request, response: Response, next: NextFunction): void => {
    // Not `.then().catch()`: what the application throws in next() is not the limiter's failure.
    pass(request, response, next).then((passes) => passes && next(), next)
  }
  return Object.assign(middleware, { resetKey: gate.reset, getKey: gate.peek })
}
