import type { NextFunction, Request, Response } from 'express'
import type { Key } from '../limiter.ts'
import { createGate } from './gate/gate.ts'
import { arrivalOf, judged, plainHands, type RateLimitInfo, refuse } from './gate/node-http.ts'
import type { GateOptions } from './gate/options.ts'
import { given, later, type Soon, soon } from './gate/soon.ts'
import type { Verdict } from './gate/verdict.ts'

export type { RateLimitInfo }

type Native = [Request, Response]

export interface ExpressOptions extends GateOptions<Native> {
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
  const gate = createGate<Native>(options, ['handler'])

  /** Whether the application goes on. */
  const pass = (
    verdict: Verdict | undefined,
    [request, response]: Native,
    next: NextFunction,
  ): Soon<boolean> => {
    if (verdict?.refusal === undefined) return verdict !== undefined
    if (handler === undefined || verdict.info === undefined) {
      refuse(response, verdict.refusal)
      return false
    }
    return soon(given(handler(request, response, next, verdict.info)), () => false)
  }
  const middleware = (request: Request, response: Response, next: NextFunction): void => {
    const native: Native = [request, response]
    let passes: Soon<boolean>
    try {
      const verdict = judged(gate, arrivalOf(request, native), plainHands, native)
      passes = verdict instanceof Promise ? later(verdict, pass, native, next) : pass(verdict, native, next)
    } catch (error) {
      next(error)
      return
    }
    // Not within `try`: what the application throws in next() is not the limiter's failure.
    if (passes instanceof Promise) goOn(passes, next)
    else if (passes) next()
  }
  return Object.assign(middleware, { resetKey: gate.reset, getKey: gate.peek })
}

/** Not `.then().catch()`, for the same reason. */
function goOn(passes: Promise<boolean>, next: NextFunction): void {
  passes.then((passes) => passes && next(), next)
}
