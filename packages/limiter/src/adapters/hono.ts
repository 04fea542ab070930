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
    const entered = gate.enter(arrivalOf(c.req.raw, [c], peerOf(c), c))
    const verdict = entered instanceof Promise ? await entered : entered // not to wait costs a third less
    const { info, refusal, delayMs, exposed, settle } = verdict
    const told = verdict.headers()
    if (info !== undefined) c.set(gate.requestPropertyName as 'rateLimit', info)
    // The signal makes a server build the whole request, which costs more than all else here.
    if (delayMs > 0 && !(await verdict.wait(c.req.raw.signal))) return gone()
    if (refusal !== undefined) {
      if (handler === undefined || info === undefined) return refusalOf(refusal, verdict)
      c.res = await handler(c, next, info)
    } else {
      for (let i = 0; i < told.length; i++) c.header(told[i]![0], told[i]![1])
      await next()
    }
    // A response that the handler made by itself has nothing of what was set before; setting it then builds it anew.
    const first = told[0]?.[0]
    if (exposed !== undefined || (first !== undefined && !c.res.headers.has(first))) {
      for (const [name, value] of headersOf(verdict, c.res.headers)) c.header(name, value)
    }
    if (settle !== undefined) c.res = settledBy(c.res, verdict, c.req.method)
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
