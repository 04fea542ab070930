import type { Readiness } from '../admin/health.ts'
import { type App, createApp, type Log } from '../app.ts'
import { AUTH_ROUTE, type AuthParts, authRoute } from '../auth/auth-route.ts'
import { isAuthUrl } from '../auth/auth-target.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'
import type { ShouldRateLimit } from '../rls/handler.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { batchRoute } from './batch.ts'
import { checkRoute } from './check.ts'
import { rateLimitRoutes } from './rate-limit-json.ts'
import { reserveRoute } from './reserve.ts'
import { settleRoutes } from './settle.ts'

export interface HttpParts {
  readonly operations: Operations
  readonly auth: Pick<AuthParts, 'options' | 'domains'>
  readonly shouldRateLimit: ShouldRateLimit
  readonly readiness: Readiness
  readonly telemetry?: Telemetry | undefined
  readonly bounds: Bounds
  readonly log: Log
  /** Whether the service is on its way out. */
  readonly stopping: () => boolean
}

/** The API over HTTP: every route translates a request, calls one operation, and translates what it answers. */
export function httpApp(parts: HttpParts): App {
  const { operations, auth, bounds, log, stopping } = parts
  const app = createApp(bounds, log, stopping, {
    routedUrl: (url) => (isAuthUrl(url) ? AUTH_ROUTE : url),
  })
  parts.telemetry?.watchHttp(app)
  checkRoute(app, operations, bounds)
  batchRoute(app, operations, bounds, parts.telemetry)
  reserveRoute(app, operations, bounds)
  settleRoutes(app, operations, bounds)
  authRoute(app, { ...auth, operations, log })
  rateLimitRoutes(app, parts.shouldRateLimit, parts.readiness)
  return app
}
