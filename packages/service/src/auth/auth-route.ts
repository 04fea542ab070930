import { METHODS } from 'node:http'
import { BadQuestion, type Reply } from '@sluice/limiter/pipeline'
import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { App, Log } from '../app.ts'
import type { Operations } from '../operations/operations.ts'
import { HttpError, PROBLEM_TYPE, problem } from '../problem.ts'
import { type AuthOptions, deadlineMsOf } from './auth-options.ts'
import { type AuthTarget, readAuthUrl } from './auth-target.ts'
import { originalReader, type ReadOriginal } from './original-request.ts'

/** Where every path of `/auth` is routed to; see `routedUrl` of the app. */
export const AUTH_ROUTE = '/auth'

export interface AuthParts {
  readonly operations: Pick<Operations, 'checkWithin'>
  readonly options: AuthOptions
  /** Names of the domains in force. */
  readonly domains: () => readonly string[]
  readonly log: Log
}

/**
 * `ANY /auth`: for proxies that ask before they pass a request on. 200 without a body for an admission, since Envoy takes
 * no other status for one; a refusal has its own status, or that of `deny`. It never holds a refusal back (`tarpit`):
 * a proxy that waits too long lets the request pass.
 */
export function authRoute(app: App, { operations, options, domains, log }: AuthParts): void {
  const deadlineMs = deadlineMsOf(options)
  const read = originalReader(options, (message) => log.warn(message))
  const known = app.supportedMethods
  const methods = METHODS.filter((method) => method !== 'CONNECT')
  for (const method of methods) if (!known.includes(method)) app.addHttpMethod(method, { hasBody: true })
  app.route({
    method: methods as HTTPMethods[],
    url: AUTH_ROUTE,
    exposeHeadRoute: false,
    bodyLimit: 1, // no body is ever read, so none counts as bytes in flight
    config: { aboutAnother: true },
    // Before bodies are read: there may be none behind a Content-Length that a proxy passed on.
    async onRequest(request, reply) {
      const target = readAuthUrl(request.originalUrl)
      const domain = target.domain ?? options.domain ?? onlyOne(domains())
      endWithoutBody(request, reply)
      const deny = target.deny ?? options.deny
      try {
        send(reply, await operations.checkWithin(questionOf(read, request, domain, target), deadlineMs), deny)
      } catch (error) {
        if (!(error instanceof BadQuestion)) throw error
        refuse(reply, 400, deny).send(JSON.stringify(problem(400, error.message)))
      }
      return reply
    },
    handler: () => undefined,
  })
}

function questionOf(read: ReadOriginal, { raw }: FastifyRequest, domain: string, target: AuthTarget) {
  return { domain, request: read(raw, target) }
}

function onlyOne(domains: readonly string[]): string {
  if (domains.length === 1) return domains[0]!
  throw new HttpError(400, 'the rules have several domains: name one in the path, such as /auth:domain=shop')
}

/** What stands behind such a Content-Length may be the next question. */
function endWithoutBody({ method, headers }: FastifyRequest, reply: FastifyReply): void {
  const says = headers['content-length'] ?? '0'
  if ((method === 'GET' || method === 'HEAD') && says !== '0') reply.header('connection', 'close')
}

function send(reply: FastifyReply, { response, decision }: Reply, deny: number | undefined): void {
  reply.header('Cache-Control', 'no-store')
  for (const [name, value] of response.headers) reply.header(name, value)
  if (decision.allowed) {
    for (const [name, value] of response.upstreamHeaders ?? []) reply.header(name, value)
    reply.code(200).header('Content-Length', '0').send()
  } else refuse(reply, response.status, deny).send(JSON.stringify(response.body))
}

/** nginx passes no body on and knows 403 alone; `Sluice-Status` says what the client should see. */
function refuse(reply: FastifyReply, status: number, deny: number | undefined): FastifyReply {
  reply
    .code(deny ?? status)
    .header('Cache-Control', 'no-store')
    .type(PROBLEM_TYPE)
  return reply.header('Sluice-Status', String(status))
}
