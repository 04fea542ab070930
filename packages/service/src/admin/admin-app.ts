import type { Registry } from 'prom-client'
import { type App, createApp, type Log } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'
import type { LiveRules } from '../rules/live-rules.ts'
import { healthRoutes, type Readiness } from './health.ts'
import { keepPagesOut } from './keep-pages-out.ts'
import { metricsRoute } from './metrics.ts'
import { reloadRoute } from './reload.ts'
import { resetRoute } from './reset.ts'
import { rlconfigRoute } from './rlconfig.ts'
import { rulesRoute } from './rules.ts'

export interface AdminParts {
  readonly operations: Operations
  readonly rules: LiveRules
  readonly registry: Registry
  readonly readiness: Readiness
  /** Whether a name or address, without its port, is one of the listener's own. */
  readonly names: (host: string) => boolean
  readonly bounds: Bounds
  readonly log: Log
  /** Whether the service is on its way out. */
  readonly stopping: () => boolean
}

/** For operators: every client that reaches it may reset and reload, but no page that a browser shows. */
export function adminApp(parts: AdminParts): App {
  const { operations, rules, registry, readiness, names, bounds, log, stopping } = parts
  const app = createApp(bounds, log, stopping)
  keepPagesOut(app, names)
  healthRoutes(app, readiness)
  metricsRoute(app, registry)
  rulesRoute(app, rules)
  rlconfigRoute(app, rules)
  reloadRoute(app, operations, rules)
  resetRoute(app, operations, bounds)
  return app
}
