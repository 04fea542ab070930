import { isUtf8 } from 'node:buffer'
import type { Socket } from 'node:net'
import type { ProblemBody } from '@sluice/limiter/wire'
import fastify, {
  type ConnectionError,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { ListenAddress } from './address.ts'
import type { Bounds } from './bounds.ts'
import { endConnectionsWhen } from './drain.ts'
import { boundBytesInFlight } from './in-flight.ts'
import { HttpError, PROBLEM_TYPE, problem, problemBodyOf } from './problem.ts'

export type App = FastifyInstance
export type Log = FastifyBaseLogger

const METHODS = ['GET', 'HEAD', 'POST'] as const

/**
 * A Fastify that takes JSON alone, and says what is wrong as a problem.
 * @param stopping while it is true, each answer ends its connection
 */
export function createApp(bounds: Bounds, log: Log, stopping: () => boolean): App {
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger, // one for each request would be most of a request's cost
    return503OnClosing: false,
    bodyLimit: bounds.maxBodyBytes,
    requestTimeout: bounds.requestTimeoutMs,
    connectionTimeout: bounds.idleTimeoutMs,
    keepAliveTimeout: bounds.idleTimeoutMs,
    http: {
      requestTimeout: bounds.requestTimeoutMs,
      headersTimeout: bounds.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, bounds.requestTimeoutMs),
      maxHeaderSize: 16 * 1_024,
    },
    clientErrorHandler: answerBroken,
    frameworkErrors: (error, _request, reply) => {
      sendProblem(reply, problemBodyOf(error))
    },
  })
  app.server.maxConnections = bounds.maxConnections
  boundBytesInFlight(app, bounds)
  takeJsonAlone(app)
  endConnectionsWhen(app, stopping)
  app.setErrorHandler((error, request, reply) => {
    const found = problemBodyOf(error)
    if (found.status === 500) request.log.error({ err: error }, 'a request failed')
    sendProblem(reply, found)
  })
  app.setNotFoundHandler((request, reply) => notFound(app, request, reply))
  return app
}

/** @param name for the log. @returns where it listens, as a URL */
export function listen(app: App, address: ListenAddress, name: string): Promise<string> {
  return app.listen({ ...address, listenTextResolver: (url) => `${name} listens at ${url}` })
}

function sendProblem(reply: FastifyReply, found: ProblemBody): void {
  reply.code(found.status).type(PROBLEM_TYPE).send(found)
}

/** Bytes that are no UTF-8 would all become U+FFFD, and so two identities one. */
function takeJsonAlone(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (!isUtf8(body)) done(new HttpError(400, 'the body is not UTF-8'))
    else parse(request, body.toString(), done)
  })
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
function answerBroken(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const found = BROKEN.get(error.code) ?? problem(400, 'this is not HTTP')
  const body = JSON.stringify(found)
  socket.end(
    `HTTP/1.1 ${found.status} ${found.title}\r\nContent-Type: ${PROBLEM_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}
