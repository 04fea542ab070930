import type { FrameworkArgs, IncomingRequest } from '../incoming-request.ts'
import type { Verdict } from '../verdict/verdict.ts'
import { exposedWith } from './expose-headers.ts'

/**
 * A request of the Fetch standard. Its parts are looked up when somebody asks: servers build requests as they are
 * read, and most limiters need the peer alone.
 */
export abstract class WebRequest<N extends FrameworkArgs> implements IncomingRequest<N> {
  readonly args: N
  /** Must come from the platform: such requests have no socket. */
  readonly peer: string | undefined
  readonly request: object

  constructor(args: N, peer: string | undefined, request: object) {
    this.args = args
    this.peer = peer
    this.request = request
  }

  protected abstract get source(): Request

  get method(): string {
    return this.source.method
  }

  get url(): string {
    const { url } = this.source // absolute and normal: the standard sees to that
    return url.slice(url.indexOf('/', authorityOf(url))).replace(/#.*/s, '')
  }

  get host(): string | undefined {
    const { url, headers } = this.source
    const authority = authorityOf(url)
    return headers.get('host') ?? url.slice(authority, url.indexOf('/', authority))
  }

  get headers(): IncomingRequest<N>['headers'] {
    return Object.fromEntries(this.source.headers)
  }
}

function authorityOf(url: string): number {
  return url.indexOf('//') + 2
}

/** A refusal as a response. */
export function refusalOf(
  { status, type, text }: NonNullable<Verdict['refusal']>,
  verdict: Verdict,
): Response {
  const response = new Response(text, { status, headers: { 'Content-Type': type } })
  for (const [name, value] of headersOf(verdict, response.headers)) response.headers.set(name, value)
  return response
}

/** A client that left while waiting gets no answer; nginx logs such requests under this status. */
export function gone(): Response {
  return new Response(null, { status: 499 })
}

/** What to set on a response that has these headers. */
export function headersOf(verdict: Verdict, present: Headers): [string, string][] {
  const headers = verdict.headers().map(([name, value]): [string, string] => [name, value])
  if (verdict.exposed !== undefined)
    headers.push(exposedWith(present.get('Access-Control-Expose-Headers'), verdict.exposed))
  return headers
}

/**
 * Settles a request once its response has been read to the end, or given up; at once where it will not be read.
 * @returns the response to send in place of this one
 */
export function settledBy(response: Response, verdict: Verdict, method: string): Response {
  const { settle } = verdict
  const { body, status } = response
  if (settle === undefined) return response
  if (body === null || method === 'HEAD') {
    void settle({ status, aborted: false })
    return response
  }
  return new Response(
    watched(body, (aborted) => void settle({ status, aborted })),
    response,
  )
}

/** What the application answers. Where it throws there is no response to wait for: the request is settled at once. */
export async function orSettled<T>(answer: () => T | Promise<T>, settle: Verdict['settle']): Promise<T> {
  try {
    return await answer()
  } catch (error) {
    await settle?.({ aborted: false })
    throw error
  }
}

/** The same stream, that tells when it is over. */
function watched(
  body: ReadableStream<Uint8Array>,
  over: (aborted: boolean) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        over(false)
        controller.close()
      } catch (error) {
        over(true)
        controller.error(error)
      }
    },
    cancel(reason) {
      over(true)
      return reader.cancel(reason)
    },
  })
}
