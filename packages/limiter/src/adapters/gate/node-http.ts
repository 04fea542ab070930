import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Arrival, Native, Outcome } from './arrival.ts'
import { added } from './expose.ts'
import type { Gate } from './gate.ts'
import type { RateLimitInfo } from './info.ts'
import { isPromised, later, type Soon } from './soon.ts'
import type { Verdict } from './verdict.ts'

declare module 'http' {
  interface IncomingMessage {
    /** The figures of this request, by the limiter that it met last. */
    rateLimit?: RateLimitInfo
  }
}

export type { RateLimitInfo }

/** A request of `node:http`; most frameworks on top of it keep the whole URL in `originalUrl`. */
type Incoming = IncomingMessage & { readonly originalUrl?: string }

/** Its parts are looked up when somebody asks: most limiters need the peer alone. */
class NodeArrival<N extends Native> implements Arrival<N> {
  // Only declared: a field that is defined is written twice, and by a function of its own.
  declare readonly native: N
  declare readonly holder: object
  declare private readonly request: Incoming
  declare private readonly path: string | undefined

  constructor(request: Incoming, native: N, holder: object, url: string | undefined) {
    this.native = native
    this.holder = holder
    this.request = request
    this.path = url
  }

  get method(): string {
    return this.request.method ?? 'GET'
  }

  get url(): string {
    return this.path ?? this.request.originalUrl ?? this.request.url ?? '/'
  }

  get host(): string | undefined {
    const { headers } = this.request
    return headers.host ?? (headers[':authority'] as string | undefined)
  }

  get peer(): string | undefined {
    return this.request.socket?.remoteAddress
  }

  get headers(): Arrival<N>['headers'] {
    // Node joins all repeated headers but Set-Cookie, which no request has.
    return this.request.headers as Arrival<N>['headers']
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

/** Node keeps what it was asked for. */
function lookUpPeer(socket: Socket): unknown {
  return socket.remoteAddress
}

/**
 * @param holder the framework's request
 * @param url where the framework keeps the whole URL elsewhere than in `originalUrl`
 */
export function arrivalOf<N extends Native>(
  request: Incoming,
  native: N,
  holder: object = request,
  url?: string,
): Arrival<N> {
  return new NodeArrival(request, native, holder, url)
}

/** The same request as one that nobody has judged, and as it is now: of a socket that closes, the address is lost. */
export function anew<N extends Native>({ native, method, url, host, peer, headers }: Arrival<N>): Arrival<N> {
  return { native, method, url, host, peer, headers, holder: {} }
}

/** How a framework over `node:http` does what a verdict asks for, on what it calls a reply or a context. */
export interface Hands<T> {
  response(on: T): ServerResponse
  setHeader(on: T, name: string, value: string): void
  getHeader(on: T, name: string): unknown
  /** Shows the application the figures. */
  show(on: T, name: string, info: RateLimitInfo): void
}

/**
 * Judges a request, up to the point where the application goes on or a refusal goes out. `undefined`: nothing is
 * left to do, since the caller has gone, or an answer is out already.
 */
export function judged<N extends Native, T>(
  gate: Gate<N>,
  arrival: Arrival<N>,
  hands: Hands<T>,
  on: T,
): Soon<Verdict | undefined> {
  const entered = gate.enter(arrival)
  return isPromised(entered)
    ? later(entered, carriedOut, gate, hands, on)
    : carriedOut(entered, gate, hands, on)
}

function carriedOut<N extends Native, T>(
  verdict: Verdict,
  gate: Gate<N>,
  hands: Hands<T>,
  on: T,
): Soon<Verdict | undefined> {
  const { info, exposed, delayMs } = verdict
  const response = hands.response(on)
  if (info !== undefined) hands.show(on, gate.requestPropertyName, info)
  if (!response.headersSent) {
    // By index, here and in what every request runs through: iterators are several times the code.
    const headers = verdict.headers()
    for (let i = 0; i < headers.length; i++) hands.setHeader(on, headers[i]![0], headers[i]![1])
    if (exposed !== undefined) {
      hands.setHeader(on, ...added(hands.getHeader(on, 'Access-Control-Expose-Headers'), exposed))
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

/** {@link Hands} where requests and responses are Node's own, with or without more to them. */
export const plainHands: Hands<readonly [IncomingMessage, ServerResponse]> = {
  response: (native) => native[1],
  setHeader: (native, name, value) => native[1].setHeader(name, value),
  getHeader: (native, name) => native[1].getHeader(name),
  show: (native, name, info) => show(native[0], name, info),
}

/** Under the name that the options give, which types cannot know. */
export function show(holder: object, name: string, info: RateLimitInfo): void {
  ;(holder as Record<string, unknown>)[name] = info
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
