import { keyCalls } from '@sluice/observe/parts'
import type { App } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'

/** One key of a policy: `GET /v1/key`, `POST /v1/block` and `POST /v1/unblock`. */
export function keyRoutes(app: App, operations: Operations, { maxTextLength }: Bounds): void {
  const calls = keyCalls(operations, maxTextLength)
  app.get('/v1/key', ({ query }) => calls.look(query))
  app.post('/v1/block', ({ body }) => calls.block(body))
  app.post('/v1/unblock', ({ body }) => calls.unblock(body))
}
