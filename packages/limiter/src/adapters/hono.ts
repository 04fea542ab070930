import type { Context, MiddlewareHandler, Next } from 'hono'
import type { Key } from '../limiter.ts'
import { createGate } from './gate/gate.ts'
import type { RateLimitInfo } from './gate/info.ts'
import type { GateOptions } from './gate/options.ts'
import { arrivalOf, gone, headersOf, refusalOf, settledBy } from './gate/web.ts'

export type { RateLimitInfo }

declare module 'hono' {
  interface ContextVariableMap {
    /** The figures of this request, by the limiter that it met last. */
    rateLimit: RateLimitInfo
  }
}

export interface HonoOptions extends GateOptions<[Context]> {
  /** Answers refusals by a quota in place of `message` and `statusCode`. */
  readonly handler?: (c: Context, next: Next, info: RateLimitInfo) => Response | Promise<Response>
}

export type RateLimitMiddleware = MiddlewareHandler & {
  /** Forgets what a key has used. */
  resetKey(key: Key): Promise<void>
  /** A key's figures now. */
  getKey(key: Key): Promise<RateLimitInfo>
}

/**
 * Middleware for Hono, wherever it runs. On Node, Bun and Deno callers are told apart by their sockets' addresses;
 * elsewhere give `address` or `key`. `c.get('rateLimit')` has the figures.
 * @throws ConfigError for options that mean nothing
 */
export function rateLimit(options: HonoOptions): RateLimitMiddleware {
  const { handler } = options
  const gate = createGate<[Context]>(options, ['handler'])
  const middleware: MiddlewareHandler = async (c, next) => {
    const { method, signal } = c.req.raw
    const verdict = await gate.enter(arrivalOf(c.req.raw, [c], peerOf(c), c))
    const { info, refusal, delayMs } = verdict
    if (info !== undefined) c.set(gate.requestPropertyName as 'rateLimit', info)
    if (delayMs > 0 && !(await verdict.wait(signal))) return gone()
    if (refusal !== undefined) {
      if (handler === undefined || info === undefined) return refusalOf(refusal, verdict)
      c.res = await handler(c, next, info)
    } else await next()
    // Set now, since what a handler returns as it is would not have what was set before.
    for (const [name, value] of headersOf(verdict, c.res.headers)) c.header(name, value)
    if (verdict.settle !== undefined) c.res = settledBy(c.res, verdict, method)
    return undefined
  }
  return Object.assign(middleware, { resetKey: gate.reset, getKey: gate.peek })
}

/** What the servers that Hono runs on tell of the socket. */
interface Bindings {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } }
  readonly remoteAddr?: { readonly hostname?: string }
  requestIP?(request: Request): { readonly address: string } | null
}

function peerOf({ env, req }: Context): string | undefined {
  const bindings = ((env as { server?: Bindings } | undefined)?.server ?? env ?? {}) as Bindings
  if (bindings.incoming !== undefined) return bindings.incoming.socket?.remoteAddress
  return bindings.remoteAddr?.hostname ?? bindings.requestIP?.(req.raw)?.address
}
