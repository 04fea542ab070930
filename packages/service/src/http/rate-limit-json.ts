import { isUtf8 } from 'node:buffer'
import type { Readiness } from '../admin/health.ts'
import type { App } from '../app.ts'
import { OperationError } from '../operations/operation-error.ts'
import type { ShouldRateLimit } from '../rls/handler.ts'
import { CODE } from '../rls/messages.ts'
import { requestFromJson, responseToJson } from '../rls/proto-json.ts'

/** Milliseconds: longer than any store may take. */
const UNBOUND = 60_000
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * What clients of envoyproxy/ratelimit ask over HTTP: `/json` (200, 429, 400 for a request with a mistake) and
 * `/healthcheck`. A body is JSON whatever its type says: curl sends none.
 */
export function rateLimitRoutes(app: App, shouldRateLimit: ShouldRateLimit, readiness: Readiness): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.route<{ Body: Buffer | undefined }>({
      method: [...METHODS],
      url: '/json',
      async handler({ body }, reply) {
        try {
          const answer = await shouldRateLimit(requestFromJson(jsonOf(body)), UNBOUND)
          reply.code(answer.overall_code === CODE.OVER_LIMIT ? 429 : 200).type('application/json')
          return JSON.stringify(responseToJson(answer))
        } catch (error) {
          if (!(error instanceof OperationError)) {
            scope.log.error({ err: error }, 'a request failed')
            return reply.code(500).type('text/plain').send('the service failed; its log says how')
          }
          return reply.code(400).type('text/plain').send(error.message)
        }
      },
    })
  })
  app.get('/healthcheck', async (_request, reply) => {
    const { reasons } = await readiness()
    const ready = reasons.length === 0
    return reply
      .code(ready ? 200 : 500)
      .type('text/plain')
      .send(ready ? 'OK' : reasons.join('\n'))
  })
}

function jsonOf(body: Buffer | undefined): unknown {
  if (body === undefined || body.length === 0) throw new OperationError('invalid', 'the body is empty')
  if (!isUtf8(body)) throw new OperationError('invalid', 'the body is not UTF-8')
  try {
    return JSON.parse(body.toString())
  } catch {
    throw new OperationError('invalid', 'the body is not JSON')
  }
}
