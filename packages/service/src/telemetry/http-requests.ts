import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type TextMapPropagator,
} from '@opentelemetry/api'
import type { Durations } from '@sluice/observe/opentelemetry'
import type { FastifyRequest } from 'fastify'
import type { App } from '../app.ts'
import type { RequestSpans } from './request-span.ts'

/** Others are `_OTHER`, as OpenTelemetry's conventions for HTTP say. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY']

interface RequestPart {
  readonly span: Span
  readonly context: Context
}

/** Each request is a span, and its duration is counted. */
export function watchHttpRequests(
  app: App,
  spans: RequestSpans | undefined,
  durations: Durations,
  propagator: TextMapPropagator | undefined,
): void {
  const parts = new WeakMap<FastifyRequest, RequestPart>()
  const attributes = attributesBySeries()
  app.addHook('onRequest', (request, reply, done) => {
    const began = performance.now()
    const part = spans && startOf(request, spans, propagator)
    if (part?.span.isRecording()) parts.set(request, part)
    reply.raw.once('close', () => {
      const status = reply.raw.statusCode
      durations.add(
        attributes(methodOf(request), routeOf(request), status),
        (performance.now() - began) / 1_000,
      )
      if (part !== undefined) end(part.span, status)
    })
    done()
  })
  if (spans === undefined) return
  // The body has been read by now: what is awaited below stays in the context.
  app.addHook('preHandler', (request, _reply, done) => {
    const part = parts.get(request)
    if (part === undefined) done()
    else spans.within(part, done)
  })
}

function startOf(
  request: FastifyRequest,
  spans: RequestSpans,
  propagator: TextMapPropagator | undefined,
): RequestPart {
  const caller = propagator?.extract(ROOT_CONTEXT, request.headers, HEADERS) ?? ROOT_CONTEXT
  const method = methodOf(request)
  const route = routeOf(request)
  const name = method === '_OTHER' ? 'HTTP' : method
  return spans.start(
    route === undefined ? name : `${name} ${route}`,
    {
      'http.request.method': method,
      'url.scheme': 'http',
      // Never the path that was asked for: behind /auth it is another request's, with all that such paths hold.
      ...(route !== undefined && { 'http.route': route, 'url.path': route }),
    },
    caller,
  )
}

function end(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status)
  if (status >= 500) {
    span.setAttribute('error.type', `${status}`)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

const HEADERS = {
  get: (headers: FastifyRequest['headers'], name: string) => headers[name],
  keys: (headers: FastifyRequest['headers']) => Object.keys(headers),
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
  const known = new Map<string, Attributes>()
  return (method, route, status) => {
    const series = `${method} ${status} ${route}`
    const attributes = known.get(series) ?? {
      'http.request.method': method,
      'http.response.status_code': status,
      'url.scheme': 'http',
      ...(route !== undefined && { 'http.route': route }),
      ...(status >= 500 && { 'error.type': `${status}` }),
    }
    known.set(series, attributes)
    return attributes
  }
}
