import type { Context, Middleware, Next } from 'koa'
import { func, type OptionFields } from '../core/options.ts'
import type { Key, Keys } from '../policy-steps.ts'
import { createGate } from './gate/gate.ts'
import { evaluated, NodeRequest, type RateLimitInfo, type ResponseWriter } from './gate/hosts/node-http.ts'
import type { CheckedDurations } from './gate/options/checked-durations.ts'
import type { GateOptions } from './gate/options/options.ts'
import type { Verdict } from './gate/verdict/verdict.ts'

export type { RateLimitInfo }

export interface KoaOptions extends GateOptions<[Context]> {
  /** Answers refusals by a quota in place of `message` and `statusCode`; the headers are set. */
  readonly handler?: (ctx: Context, next: Next, info: RateLimitInfo) => unknown
}

const OWN: OptionFields<Omit<KoaOptions, keyof GateOptions<[Context]>>> = { handler: func }

export type RateLimitMiddleware = Middleware & {
  /** Forgets what a key has used. */
  resetKey(key: Key | Keys): Promise<void>
  /** A key's figures now. */
  getKey(key: Key | Keys): Promise<RateLimitInfo>
}

/**
 * Middleware for Koa. `ctx.state.rateLimit` has the figures. Failures are thrown.
 * @throws ConfigError for invalid options
 * @example
 * app.use(rateLimit({ limit: 100, period: '15m' }))
 */
export function rateLimit<const Text extends string = string>(
  options: KoaOptions & CheckedDurations<Text>,
): RateLimitMiddleware {
  const gate = createGate<[Context]>(options, OWN)
  const { handler } = options
  const middleware: Middleware = async (ctx, next) => {
    const verdict = await evaluated(
      gate,
      new KoaRequest(ctx.req, [ctx], ctx.req, ctx.originalUrl),
      WRITER,
      ctx,
    )
    if (verdict === undefined) {
      ctx.respond = false
      return
    }
    const { refusal, info } = verdict
    if (refusal === undefined) return next().catch((error) => throwWith(error, verdict))
    if (handler !== undefined && refusal.byQuota) return handler(ctx, next, info)
    ctx.status = refusal.status
    ctx.body = refusal.text
    ctx.set('Content-Type', refusal.type)
  }
  return Object.assign(middleware, { resetKey: gate.reset, getKey: gate.peek })
}

class KoaRequest extends NodeRequest<[Context]> {
  show(name: string, info: RateLimitInfo): void {
    this.args[0].state[name] = info
  }
}

const WRITER: ResponseWriter<Context> = {
  response: ({ res }) => res,
  setHeader: (ctx, name, value) => ctx.set(name, value),
  getHeader: (ctx, name) => ctx.response.get(name),
}

/** Koa drops all headers when it answers an error, but for those that the error brings along. */
function throwWith(error: unknown, verdict: Verdict): never {
  if (error instanceof Error) {
    const { headers } = error as { headers?: Readonly<Record<string, string>> }
    Object.assign(error, { headers: { ...Object.fromEntries(verdict.headers()), ...headers } })
  }
  throw error
}
