import { type App, createApp, type Log } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'
import { batchRoute } from './batch.ts'
import { checkRoute } from './check.ts'
import { reserveRoute } from './reserve.ts'
import { settleRoutes } from './settle.ts'

export interface HttpParts {
  readonly operations: Operations
  readonly bounds: Bounds
  readonly log: Log
  /** Whether the service is on its way out. */
  readonly stopping: () => boolean
}

/** The API over HTTP: every route translates a body, calls one operation, and translates what it answers. */
export function httpApp({ operations, bounds, log, stopping }: HttpParts): App {
  const app = createApp(bounds, log, stopping)
  checkRoute(app, operations, bounds)
  batchRoute(app, operations, bounds)
  reserveRoute(app, operations, bounds)
  settleRoutes(app, operations, bounds)
  return app
}
