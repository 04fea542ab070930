import type { NextFunction, Request, Response } from 'express'
import { func, type OptionFields } from '../core/options.ts'
import { andThen, andThenWith, type MaybePromise, maybePromise } from '../maybe-promise.ts'
import type { Key, Keys } from '../policy-steps.ts'
import { createGate } from './gate/gate.ts'
import {
  evaluated,
  incomingRequestOf,
  plainWriter,
  type RateLimitInfo,
  sendRefusal,
} from './gate/hosts/node-http.ts'
import type { CheckedDurations } from './gate/options/checked-durations.ts'
import type { GateOptions } from './gate/options/options.ts'
import type { Verdict } from './gate/verdict/verdict.ts'

export type { RateLimitInfo }

type ExpressArgs = [Request, Response]

export interface ExpressOptions extends GateOptions<ExpressArgs> {
  /** Answers refusals by a quota in place of `message` and `statusCode`; the headers are set. */
  readonly handler?: (
    request: Request,
    response: Response,
    next: NextFunction,
    info: RateLimitInfo,
  ) => unknown
}

const OWN: OptionFields<Omit<ExpressOptions, keyof GateOptions<ExpressArgs>>> = { handler: func }

export interface RateLimitMiddleware {
  (request: Request, response: Response, next: NextFunction): void
  /** Forgets what a key has used. */
  resetKey(key: Key | Keys): Promise<void>
  /** A key's figures now. */
  getKey(key: Key | Keys): Promise<RateLimitInfo>
}

/**
 * Middleware for Express 4 and 5. One that is used in several places limits them together, and counts a request
 * once. Failures go to `next`.
 * @throws ConfigError for invalid options
 * @example
 * app.use(rateLimit({ limit: 100, period: '15m' }))
 * app.post('/login', rateLimit({ limit: 5, period: '1m', skipSuccessfulRequests: true }), login)
 */
export function rateLimit<const Text extends string = string>(
  options: ExpressOptions & CheckedDurations<Text>,
): RateLimitMiddleware {
  const gate = createGate<ExpressArgs>(options, OWN)
  const { handler } = options

  /** Whether the application goes on. */
  const pass = (
    verdict: Verdict | undefined,
    [request, response]: ExpressArgs,
    next: NextFunction,
  ): MaybePromise<boolean> => {
    if (verdict?.refusal === undefined) return verdict !== undefined
    if (handler === undefined || !verdict.refusal.byQuota) {
      sendRefusal(response, verdict.refusal)
      return false
    }
    return andThen(maybePromise(handler(request, response, next, verdict.info)), () => false)
  }
  const middleware = (request: Request, response: Response, next: NextFunction): void => {
    const args: ExpressArgs = [request, response]
    let passes: MaybePromise<boolean>
    try {
      const verdict = evaluated(gate, incomingRequestOf(request, args), plainWriter, args)
      passes = verdict instanceof Promise ? andThenWith(verdict, pass, args, next) : pass(verdict, args, next)
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
