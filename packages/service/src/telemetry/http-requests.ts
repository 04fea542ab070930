import type { Attributes, TextMapGetter } from '@opentelemetry/api'
import type { Durations } from '@sluice/observe/opentelemetry'
import type { FastifyRequest } from 'fastify'
import type { App } from '../app.ts'
import type { RequestSpans } from './request-spans.ts'

/** Others are `_OTHER`, as OpenTelemetry's conventions for HTTP say. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY']

type SentHeaders = FastifyRequest['headers']
const HEADERS: TextMapGetter<SentHeaders> = {
  get: (headers, name) => headers[name],
  keys: (headers) => Object.keys(headers),
}

/** Counts the durations of requests; and makes them spans, where there are any. */
export function watchHttpRequests(app: App, durations: Durations, spans: RequestSpans | undefined): void {
  const attributes = attributesBySeries()
  app.addHook('onResponse', (request, reply, done) => {
    durations.add(
      attributes(methodOf(request), routeOf(request), reply.statusCode),
      reply.elapsedTime / 1_000,
    )
    done()
  })
  if (spans !== undefined) makeSpans(app, spans)
}

/** From where the body has been read: what cannot be read decides nothing. */
function makeSpans(app: App, spans: RequestSpans): void {
  app.addHook('preHandler', (request, reply, done) => {
    const { headers } = request
    const { traceparent } = headers
    const recorded = spans.start({
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
      carrier: headers,
      getter: HEADERS,
      named: () => [...named(request), reply.elapsedTime],
    })
    if (recorded === undefined) return done()
    reply.raw.once('close', () => {
      const { statusCode } = reply.raw
      const fault = statusCode >= 500 ? `${statusCode}` : undefined
      spans.end(recorded, { 'http.response.status_code': statusCode }, fault)
    })
    spans.within(recorded, done)
  })
}

function named(request: FastifyRequest): readonly [string, Attributes] {
  const method = methodOf(request)
  const route = routeOf(request)
  const name = method === '_OTHER' ? 'HTTP' : method
  // Never the path that was asked for: behind /auth it is another request's, with all that such paths hold.
  const place = route === undefined ? undefined : { 'http.route': route, 'url.path': route }
  return [
    route === undefined ? name : `${name} ${route}`,
    { 'http.request.method': method, 'url.scheme': 'http', ...place },
  ]
}

function methodOf({ method }: FastifyRequest): string {
  return METHODS.includes(method) ? method : '_OTHER'
}

/** One of those that the service has; undefined where there is none. */
function routeOf({ routeOptions: { url }, is404 }: FastifyRequest): string | undefined {
  return is404 ? undefined : url
}

/** One object for all requests of a method, route and status: there are as many as the service has of these. */
function attributesBySeries(): (method: string, route: string | undefined, status: number) => Attributes {
  const known = new Map<string | undefined, Map<number, Map<string, Attributes>>>()
  return (method, route, status) => {
    const kept = known.get(route)?.get(status)?.get(method)
    if (kept !== undefined) return kept
    const made: Attributes = {
      'http.request.method': method,
      'http.response.status_code': status,
      'url.scheme': 'http',
      ...(route !== undefined && { 'http.route': route }),
      ...(status >= 500 && { 'error.type': `${status}` }),
    }
    const byStatus = known.get(route) ?? new Map<number, Map<string, Attributes>>()
    const byMethod = byStatus.get(status) ?? new Map<string, Attributes>()
    known.set(route, byStatus.set(status, byMethod.set(method, made)))
    return made
  }
}
