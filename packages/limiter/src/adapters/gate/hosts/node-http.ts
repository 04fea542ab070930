import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { andThenWith, isPromise, type MaybePromise } from '../../../maybe-promise.ts'
import type { Gate } from '../gate.ts'
import type { FrameworkArgs, IncomingRequest, ResponseOutcome } from '../incoming-request.ts'
import type { RateLimitInfo } from '../verdict/info.ts'
import type { Verdict } from '../verdict/verdict.ts'
import { exposedWith } from './expose-headers.ts'

declare module 'http' {
  interface IncomingMessage {
    /** The figures of this request, by the limiter that it met last. */
    rateLimit?: RateLimitInfo
  }
}

export type { RateLimitInfo }

/** A request of `node:http`; most frameworks on top of it keep the whole URL in `originalUrl`. */
type Incoming = IncomingMessage & { readonly originalUrl?: string }

/**
 * Its parts are looked up when they are read: most limiters need the peer alone. A class with declared fields (see
 * ARCHITECTURE.md, "Shaped for the engine").
 */
export class NodeRequest<N extends FrameworkArgs> implements IncomingRequest<N> {
  // Only declared: a field that is defined is written twice, and by a function of its own.
  declare readonly args: N
  declare readonly request: object
  declare private readonly incoming: Incoming
  declare private readonly path: string | undefined

  constructor(incoming: Incoming, args: N, request: object, url: string | undefined) {
    this.args = args
    this.request = request
    this.incoming = incoming
    this.path = url
  }

  get method(): string {
    return this.incoming.method ?? 'GET'
  }

  get url(): string {
    return this.path ?? this.incoming.originalUrl ?? this.incoming.url ?? '/'
  }

  get host(): string | undefined {
    const { headers } = this.incoming
    return headers.host ?? (headers[':authority'] as string | undefined)
  }

  get peer(): string | undefined {
    return this.incoming.socket?.remoteAddress
  }

  get headers(): IncomingRequest<N>['headers'] {
    // Node joins all repeated headers but Set-Cookie, which no request has.
    return this.incoming.headers as IncomingRequest<N>['headers']
  }
}

/**
 * Looks callers' addresses up when they connect. Node then knows them after they have left; and all sockets have one
 * shape, whether or not a limiter sees their requests: where they differ, whatever handles them is slower, by 0.4 µs a
 * request on Node 20 and 1.6 on Node 26.
 */
export function lookUpPeers(server: EventEmitter): void {
  for (const event of ['connection', 'secureConnection']) {
    if (!server.listeners(event).includes(lookUpPeer)) server.on(event, lookUpPeer)
  }
}

/** Node keeps the address once it was read. */
function lookUpPeer(socket: Socket): unknown {
  return socket.remoteAddress
}

/**
 * @param request the framework's request
 * @param url where the framework keeps the whole URL elsewhere than in `originalUrl`
 */
export function incomingRequestOf<N extends FrameworkArgs>(
  incoming: Incoming,
  args: N,
  request: object = incoming,
  url?: string,
): IncomingRequest<N> {
  return new NodeRequest(incoming, args, request, url)
}

/** The same request as one that no limiter has seen, and as it is now: of a socket that closes, the address is lost. */
export function anew<N extends FrameworkArgs>({
  args,
  method,
  url,
  host,
  peer,
  headers,
}: IncomingRequest<N>): IncomingRequest<N> {
  return { args, method, url, host, peer, headers, request: {} }
}

/** How a framework over `node:http` does what a verdict asks for, on what it calls a reply or a context. */
export interface ResponseWriter<T> {
  response(on: T): ServerResponse
  setHeader(on: T, name: string, value: string): void
  getHeader(on: T, name: string): unknown
}

/**
 * Decides a request, up to the point where the application goes on or a refusal goes out. `undefined`: nothing is
 * left to do, since the caller has gone, or an answer is out already.
 */
export function evaluated<N extends FrameworkArgs, T>(
  gate: Gate<N>,
  incoming: IncomingRequest<N>,
  writer: ResponseWriter<T>,
  on: T,
): MaybePromise<Verdict | undefined> {
  const entered = gate.enter(incoming)
  return isPromise(entered) ? andThenWith(entered, carriedOut, writer, on) : carriedOut(entered, writer, on)
}

function carriedOut<T>(
  verdict: Verdict,
  writer: ResponseWriter<T>,
  on: T,
): MaybePromise<Verdict | undefined> {
  const { exposed, delayMs } = verdict
  const response = writer.response(on)
  if (!response.headersSent) {
    // By index, here and in what every request runs through: iterators are several times the code.
    const headers = verdict.headers()
    for (let i = 0; i < headers.length; i++) writer.setHeader(on, headers[i]![0], headers[i]![1])
    if (exposed !== undefined) {
      writer.setHeader(on, ...exposedWith(writer.getHeader(on, 'Access-Control-Expose-Headers'), exposed))
    }
  }
  if (delayMs === 0) return ready(response, verdict)
  return waited(response, verdict)
}

async function waited(response: ServerResponse, verdict: Verdict): Promise<Verdict | undefined> {
  return (await verdict.wait(leaving(response))) ? ready(response, verdict) : undefined
}

function ready(response: ServerResponse, verdict: Verdict): Verdict | undefined {
  const { refusal, settle } = verdict
  if (settle !== undefined) onceOver(response, settle)
  return refusal !== undefined && response.headersSent ? undefined : verdict
}

/** {@link ResponseWriter} where requests and responses are Node's own, with or without more to them. */
export const plainWriter: ResponseWriter<readonly [IncomingMessage, ServerResponse]> = {
  response: (args) => args[1],
  setHeader: (args, name, value) => args[1].setHeader(name, value),
  getHeader: (args, name) => args[1].getHeader(name),
}

/** Sends a refusal. `Vary` and the like, set by others, stay. */
export function sendRefusal(
  response: ServerResponse,
  { status, type, text }: NonNullable<Verdict['refusal']>,
): void {
  response.statusCode = status
  response.setHeader('Content-Type', type)
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}

/** Whether `close` has come, or will not come again. @param response of HTTP/1 or HTTP/2 */
function isClosed(response: ServerResponse & { readonly stream?: { readonly destroyed: boolean } }): boolean {
  return response.closed || (response.stream ?? response.socket)?.destroyed === true
}

/** Aborts when the connection closes before the response is out. */
function leaving(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (isClosed(response)) controller.abort()
  else response.once('close', () => controller.abort())
  return controller.signal
}

/** `finish` comes when all is handed to the system; `close` without it, when the connection broke before. */
function onceOver(response: ServerResponse, settle: (outcome: ResponseOutcome) => unknown): void {
  if (isClosed(response))
    return void settle({ status: response.statusCode, aborted: !response.writableFinished })
  response.once('finish', () => settle({ status: response.statusCode, aborted: false }))
  response.once('close', () => settle({ status: response.statusCode, aborted: !response.writableFinished }))
}
