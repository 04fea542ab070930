import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import type { ProblemBody } from '@sluice/limiter/wire'
import fastify, {
  type ConnectionError,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Bounds } from './bounds.ts'
import { endConnectionsWhen } from './drain.ts'
import { boundBytesInFlight } from './in-flight.ts'
import { HttpError, PROBLEM_TYPE, problem, problemBodyOf } from './problem.ts'
import { takeJsonAlone } from './take-json.ts'

export type App = FastifyInstance
export type Log = FastifyBaseLogger

const METHODS = ['GET', 'HEAD', 'POST'] as const

/** No route has a schema. Given nothing, Fastify loads what compiles them: a hundred modules, a tenth of the start. */
const NO_SCHEMAS = { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } }

function noSchemas(): never {
  throw new Error('routes of the service have no schemas')
}

/** What one listener has, and another has not. */
export interface ListenerOptions {
  /** The path that a request is routed by. Default: its own. */
  readonly routedUrl?: (url: string) => string
  /** Certificates, where it speaks TLS. */
  readonly https?: ServerOptions | undefined
}

/**
 * A Fastify that takes JSON alone, and says what is wrong as a problem.
 * @param stopping while it is true, each answer ends its connection
 */
export function createApp(
  bounds: Bounds,
  log: Log,
  stopping: () => boolean,
  { routedUrl = (url) => url, https }: ListenerOptions = {},
): App {
  const http = {
    requestTimeout: bounds.requestTimeoutMs,
    headersTimeout: bounds.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, bounds.requestTimeoutMs),
    maxHeaderSize: 16 * 1_024,
    requireHostHeader: false, // Node would refuse without a body; refuseOddHeaders does
  }
  const app = fastify({
    loggerInstance: log,
    rewriteUrl: ({ url = '/' }) => routedUrl(url),
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger, // one for each request would be most of a request's cost
    return503OnClosing: false,
    bodyLimit: bounds.maxBodyBytes,
    requestTimeout: bounds.requestTimeoutMs,
    connectionTimeout: bounds.idleTimeoutMs,
    keepAliveTimeout: bounds.idleTimeoutMs,
    http,
    // All that is used of its server, one of TLS has as well: types of Fastify tell the two apart.
    ...(https !== undefined && ({ https: { ...http, ...https } } as object)),
    clientErrorHandler: answerBroken,
    schemaController: NO_SCHEMAS,
    frameworkErrors: (error, _request, reply) => {
      sendProblem(reply, problemBodyOf(error))
    },
  })
  app.server.maxConnections = bounds.maxConnections
  boundBytesInFlight(app, bounds)
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const found = problem(417, 'the only Expect that is understood is 100-continue')
    const body = JSON.stringify(found)
    response.writeHead(found.status, {
      'content-type': PROBLEM_TYPE,
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    response.end(body)
  })
  app.server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    answerRaw(socket, problem(405, 'CONNECT is not taken: this is no proxy'))
  })
  app.addHook('onRequest', (request, _reply, done) => done(oddHeader(request)))
  takeJsonAlone(app, bounds)
  endConnectionsWhen(app, stopping)
  app.setErrorHandler((error, request, reply) => {
    const found = problemBodyOf(error)
    if (found.status === 500) request.log.error({ err: error }, 'a request failed')
    sendProblem(reply, found)
  })
  app.setNotFoundHandler((request, reply) => notFound(app, request, reply))
  return app
}

function sendProblem(reply: FastifyReply, found: ProblemBody): void {
  reply.code(found.status).type(PROBLEM_TYPE).send(found)
}

/** Headers of which a request has one: of two, two readers might each believe another. */
const SINGLE_HEADERS = ['host', 'content-type', 'content-length', 'origin']
const UTF_8 = /^"?utf-?8"?$/i
/** A name or address, with a port or without. Empty where the target has no authority. */
const HOST = /^(?:[\w.~!$&'()*+;=%-]+|\[[\da-f:.]+\])?(?::\d*)?$/i

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its headers are those of another request: what they say of a body is of no matter. */
    readonly aboutAnother?: true
  }
}

/** What is wrong with a request's headers, before anything of its body is read. */
function oddHeader({ raw, headers, routeOptions }: FastifyRequest): HttpError | undefined {
  const aboutAnother = routeOptions.config?.aboutAnother === true
  // As many lines as names: none is given twice.
  if (raw.rawHeaders.length > 2 * Object.keys(headers).length) {
    for (const name of aboutAnother ? ['host'] : SINGLE_HEADERS) {
      const count = raw.rawHeaders.filter((each, i) => i % 2 === 0 && each.toLowerCase() === name).length
      if (count > 1) return new HttpError(400, `the header ${name} is given ${count} times`)
    }
  }
  if (headers.host === undefined && raw.httpVersion !== '1.0')
    return new HttpError(400, 'the header host is missing')
  if (headers.host !== undefined && !HOST.test(headers.host))
    return new HttpError(400, 'the header host is not a name or address')
  if (aboutAnother) return undefined
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    return new HttpError(415, 'a body must be sent without content-encoding')
  const type = headers['content-type']
  if (type?.includes(';')) {
    for (const [, charset] of type.matchAll(/;\s*charset\s*=\s*([^;\s]*)/gi)) {
      if (!UTF_8.test(charset!)) return new HttpError(415, 'the charset of a body must be utf-8')
    }
  }
  return undefined
}

function notFound(app: App, request: FastifyRequest, reply: FastifyReply): void {
  const url = request.url.split('?', 1)[0]!
  const allowed = METHODS.filter((method) => app.hasRoute({ url, method }))
  if (allowed.length === 0) sendProblem(reply, problem(404, `there is nothing at ${url.slice(0, 100)}`))
  else {
    reply.header('Allow', allowed.join(', '))
    sendProblem(reply, problem(405, `${url} takes ${allowed.join(', ')}`))
  }
}

const BROKEN: ReadonlyMap<string, ProblemBody> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', problem(408, 'the request did not arrive in time')],
  ['HPE_HEADER_OVERFLOW', problem(431, 'the headers are too large')],
])

/** Requests that Fastify never sees: what is not even HTTP, or came too slowly. */
function answerBroken(error: ConnectionError, socket: Duplex): void {
  if (/^(?:ECONNRESET$|ERR_SSL|ERR_TLS)/.test(error.code) || !socket.writable) socket.destroy()
  else answerRaw(socket, BROKEN.get(error.code) ?? problem(400, 'this is not HTTP'))
}

function answerRaw(socket: Duplex, found: ProblemBody): void {
  const body = JSON.stringify(found)
  socket.end(
    `HTTP/1.1 ${found.status} ${found.title}\r\nContent-Type: ${PROBLEM_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}
