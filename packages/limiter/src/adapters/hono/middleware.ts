import type { Context, MiddlewareHandler, Next } from 'hono'
import type { Header } from '../../core/respond/dialect.ts'
import { isPromise } from '../../maybe-promise.ts'
import { lowerCase } from '../../memoize.ts'
import type { Key, Keys } from '../../policy-steps.ts'
import type { Gate } from '../gate/gate-of.ts'
import { gone, headersOf, orSettled, refusalOf, settledBy, WebRequest } from '../gate/hosts/web.ts'
import type { RateLimitInfo } from '../gate/verdict/info.ts'
import type { Verdict } from '../gate/verdict/verdict.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** The figures of this request, by the limiter that it met last. */
    rateLimit: RateLimitInfo
  }
}

/** Answers refusals by a quota in place of `message` and `statusCode`. */
export type HonoHandler = (c: Context, next: Next, info: RateLimitInfo) => Response | Promise<Response>

export type RateLimitMiddleware = MiddlewareHandler & {
  /** Forgets what a key has used. */
  resetKey(key: Key | Keys): Promise<void>
  /** A key's figures now. */
  getKey(key: Key | Keys): Promise<RateLimitInfo>
}

/** What carries out a gate's verdicts in Hono. */
export function honoMiddleware(gate: Gate<[Context]>, handler: HonoHandler | undefined): RateLimitMiddleware {
  const middleware: MiddlewareHandler = async (c, next) => {
    const entered = gate.enter(new HonoRequest([c], peerOf(c), c))
    const verdict = isPromise(entered) ? await entered : entered // not to wait costs a third less
    const { refusal, settle } = verdict
    const headers = verdict.headers()
    // The signal makes a server build the whole request, which costs more than all else here.
    if (verdict.delayMs > 0 && !(await verdict.wait(c.req.raw.signal))) return gone()
    let sent = false
    if (refusal === undefined) {
      sent = setHeaders(c, verdict, headers)
      await (settle === undefined ? next() : orSettled(next, settle))
    } else if (handler === undefined || !refusal.byQuota) return refusalOf(refusal, verdict)
    else c.res = await handler(c, next, verdict.info)
    if (!sent && (verdict.exposed !== undefined || lacks(c, headers))) complete(c, verdict)
    if (settle !== undefined) c.res = settledBy(c.res, verdict, c.req.method)
    return undefined
  }
  return Object.assign(middleware, { resetKey: gate.reset, getKey: gate.peek })
}

/** Hono makes its request when somebody asks for it. */
class HonoRequest extends WebRequest<[Context]> {
  protected override get source(): Request {
    return this.args[0].req.raw
  }

  show(name: string, info: RateLimitInfo): void {
    this.args[0].set(name as 'rateLimit', info)
  }
}

/**
 * Sets the headers before the application answers. On Node they go onto Node's own response, as in every framework
 * there: whatever response the application makes then carries them, and `Headers` of the Fetch standard cost as much
 * as all else here. Elsewhere onto the context's.
 * @returns whether nothing is left to do once the application has answered
 */
function setHeaders(c: Context, { exposed }: Verdict, headers: readonly Header[]): boolean {
  const { outgoing } = bindingsOf(c)
  const node = exposed === undefined && outgoing?.headersSent === false
  for (let i = 0; i < headers.length; i++) {
    if (node) outgoing.setHeader(headers[i]![0], headers[i]![1])
    else c.header(lowerCase(headers[i]![0]), headers[i]![1])
  }
  return node
}

/** A response that the application made by itself has nothing of what the context was given before. */
function lacks({ res }: Context, headers: readonly Header[]): boolean {
  return headers.length > 0 && !res.headers.has(lowerCase(headers[0]![0]))
}

/** Builds the response anew. */
function complete(c: Context, verdict: Verdict): void {
  for (const [name, value] of headersOf(verdict, c.res.headers)) c.header(name, value)
}

/** What the servers that Hono runs on let it know. */
interface Bindings {
  readonly outgoing?: { readonly headersSent?: boolean; setHeader(name: string, value: string): unknown }
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } }
  readonly remoteAddr?: { readonly hostname?: string }
  requestIP?(request: Request): { readonly address: string } | null
}

function bindingsOf(c: Context): Bindings {
  const env = c.env as (Bindings & { readonly server?: Bindings }) | undefined
  return env?.server ?? env ?? {}
}

function peerOf(c: Context): string | undefined {
  const bindings = bindingsOf(c)
  if (bindings.incoming !== undefined) return bindings.incoming.socket?.remoteAddress
  return bindings.remoteAddr?.hostname ?? bindings.requestIP?.(c.req.raw)?.address
}
