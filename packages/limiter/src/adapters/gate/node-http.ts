import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Arrival, Native, Outcome } from './arrival.ts'
import { added } from './expose.ts'
import type { Gate } from './gate.ts'
import type { RateLimitInfo } from './info.ts'
import type { Verdict } from './verdict.ts'

declare module 'http' {
  interface IncomingMessage {
    /** The figures of this request, by the limiter that it met last. */
    rateLimit?: RateLimitInfo
  }
}

export type { RateLimitInfo }

/** A request of `node:http`, and of the frameworks on top of it, which keep the whole URL in `originalUrl`. */
export function arrivalOf<N extends Native>(
  request: IncomingMessage & { readonly originalUrl?: string },
  native: N,
): Arrival<N> {
  const { headers, method = 'GET', url = '/', originalUrl = url } = request
  return {
    native,
    method,
    url: originalUrl,
    host: headers.host ?? (headers[':authority'] as string | undefined),
    peer: request.socket?.remoteAddress,
    // Node joins all repeated headers but Set-Cookie, which no request has.
    headers: headers as Arrival<N>['headers'],
    holder: request,
  }
}

/** How a framework over `node:http` does what a verdict asks for. */
export interface Hands {
  readonly response: ServerResponse
  setHeader(name: string, value: string): void
  getHeader(name: string): unknown
  /** Shows the application the figures. */
  show(name: string, info: NonNullable<Verdict['info']>): void
}

/**
 * Judges a request, up to the point where the application goes on or a refusal goes out. `undefined`: nothing is
 * left to do, since the caller has gone, or an answer is out already.
 */
export async function judged<N extends Native>(
  gate: Gate<N>,
  arrival: Arrival<N>,
  { response, setHeader, getHeader, show }: Hands,
): Promise<Verdict | undefined> {
  const verdict = await gate.enter(arrival)
  const { refusal, info, settle, exposed, delayMs } = verdict
  if (info !== undefined) show(gate.requestPropertyName, info)
  if (!response.headersSent) {
    for (const [name, value] of verdict.headers()) setHeader(name, value)
    if (exposed !== undefined) setHeader(...added(getHeader('Access-Control-Expose-Headers'), exposed))
  }
  if (delayMs > 0 && !(await verdict.wait(leaving(response)))) return undefined
  if (settle !== undefined) onceOver(response, settle)
  return refusal !== undefined && response.headersSent ? undefined : verdict
}

/** Sends a refusal. `Vary` and the like, set by others, stay. */
export function refuse(
  response: ServerResponse,
  { status, type, text }: NonNullable<Verdict['refusal']>,
): void {
  response.statusCode = status
  response.setHeader('Content-Type', type)
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}

/** Aborts when the connection closes before the response is out. */
function leaving(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (response.closed || response.socket?.destroyed) controller.abort()
  else response.once('close', () => controller.abort())
  return controller.signal
}

/** `finish` comes when all is handed to the system; `close` without it, when the connection broke before. */
function onceOver(response: ServerResponse, settle: (outcome: Outcome) => unknown): void {
  response.once('finish', () => settle({ status: response.statusCode, aborted: false }))
  response.once('close', () => settle({ status: response.statusCode, aborted: !response.writableFinished }))
}
