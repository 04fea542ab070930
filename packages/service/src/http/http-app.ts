import type { Store } from '@sluice/limiter/stores/store'
import { type App, createApp, type Log } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Ask } from './ask.ts'
import { batchRoute } from './batch.ts'
import { checkRoute } from './check.ts'
import type { ReservationIds } from './reservation-id.ts'
import { reserveRoute } from './reserve.ts'
import { settleRoutes } from './settle.ts'

export interface HttpParts {
  readonly ask: Ask
  readonly store: Store
  readonly ids: ReservationIds
  readonly bounds: Bounds
  readonly log: Log
}

/** For those who ask: one route for each way. */
export function httpApp({ ask, store, ids, bounds, log }: HttpParts): App {
  const app = createApp(bounds, log)
  checkRoute(app, ask, bounds)
  batchRoute(app, ask, bounds)
  reserveRoute(app, ask, ids, bounds)
  settleRoutes(app, store, ids, bounds)
  return app
}
