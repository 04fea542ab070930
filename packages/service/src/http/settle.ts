import { readCancel, readCommit, readNoQuery } from '@sluice/limiter/wire'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'

/**
 * `POST /v1/commit` settles a reservation at its actual cost, `POST /v1/cancel` gives all of it back: once,
 * whichever comes first. 204, or 410 when there is nothing to settle any more.
 */
export function settleRoutes(app: App, operations: Operations, bounds: Bounds): void {
  app.post('/v1/commit', async ({ body, query }, reply) => {
    readNoQuery(query)
    const { id, ...actual } = readCommit(body, bounds)
    await operations.commit(id, actual)
    return reply.code(204).send()
  })
  app.post('/v1/cancel', async ({ body, query }, reply) => {
    readNoQuery(query)
    await operations.cancel(readCancel(body).id)
    return reply.code(204).send()
  })
}
