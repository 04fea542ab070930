import type { Gate } from '../gate/gate-of.ts'
import { gone, headersOf, orSettled, refusalOf, settledBy, WebRequest } from '../gate/hosts/web.ts'
import type { RateLimitInfo } from '../gate/verdict/info.ts'
import type { Verdict } from '../gate/verdict/verdict.ts'

/** How a request is to be answered. */
export interface Passage {
  /** To be sent; absent: the request may go on. */
  readonly response?: Response
  /** The figures; also a property of the request, by `requestPropertyName`. */
  readonly info: RateLimitInfo
  /** The application's response with the headers on it: that is what to send. To be called once. */
  finish(response: Response): Response
}

/** What a platform passes to its handlers beside the request: a server, an environment, a context. */
export type Rest = readonly unknown[]

export interface FetchLimiter<R extends Rest> {
  (request: Request, ...rest: R): Promise<Passage>
  /** A handler around another one, which sees only what may pass. */
  wrap(
    handler: (request: Request, ...rest: R) => Response | Promise<Response>,
  ): (request: Request, ...rest: R) => Promise<Response>
}

class FetchRequest<R extends Rest> extends WebRequest<[Request, ...R]> {
  protected override get source(): Request {
    return this.args[0]
  }
}

/** What carries out a gate's verdicts on requests and responses of the Fetch standard. */
export function fetchLimiter<R extends Rest>(gate: Gate<[Request, ...R]>): FetchLimiter<R> {
  const entered = async (request: Request, ...rest: R): Promise<[Passage, Verdict]> => {
    const verdict = await gate.enter(new FetchRequest([request, ...rest], undefined, request))
    const { refusal, info, delayMs } = verdict
    const stayed = delayMs === 0 || (await verdict.wait(request.signal))
    const response = stayed ? refusal && refusalOf(refusal, verdict) : gone()
    const passage: Passage = {
      ...(response === undefined ? undefined : { response }),
      info,
      finish(own) {
        if (own.status === 101) {
          void verdict.settle?.({ status: 101, aborted: false })
          return own // an upgrade, which cannot be copied
        }
        const copy = settledBy(new Response(own.body, own), verdict, request.method)
        for (const [name, value] of headersOf(verdict, copy.headers)) copy.headers.set(name, value)
        return copy
      },
    }
    return [passage, verdict]
  }
  const limit = async (request: Request, ...rest: R): Promise<Passage> => (await entered(request, ...rest))[0]
  return Object.assign(limit, {
    wrap:
      (handler: (request: Request, ...rest: R) => Response | Promise<Response>) =>
      async (request: Request, ...rest: R) => {
        const [{ response, finish }, { settle }] = await entered(request, ...rest)
        if (response !== undefined) return response
        return finish(await orSettled(() => handler(request, ...rest), settle))
      },
  })
}
