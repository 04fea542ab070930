import type { Offenders } from '@sluice/limiter/offenders'
import type { Registry } from 'prom-client'
import { type App, createApp, type Log } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import type { Operations } from '../operations/operations.ts'
import type { LiveRules } from '../rules/live-rules.ts'
import type { TlsFiles } from '../tls-files.ts'
import { dashboardRoutes } from './dashboard.ts'
import { healthRoutes, type Readiness } from './health.ts'
import { keepPagesOut } from './keep-pages-out.ts'
import { keyRoutes } from './key.ts'
import { type LiveStream, liveRoute } from './live.ts'
import { metricsRoute } from './metrics.ts'
import { offendersRoute } from './offenders.ts'
import { reloadRoute } from './reload.ts'
import { requireToken } from './require-token.ts'
import { resetRoute } from './reset.ts'
import { rlconfigRoute } from './rlconfig.ts'
import { rulesRoute } from './rules.ts'
import { spikesRoute } from './spikes.ts'
import { tlsApp } from './tls-app.ts'

export interface AdminParts {
  readonly operations: Operations
  readonly rules: LiveRules
  readonly registry: Registry
  readonly readiness: Readiness
  /** Whether a name or address, without its port, is one of the listener's own. */
  readonly names: (host: string) => boolean
  /** What every call needs that says or changes something; absent: none does. */
  readonly token: string | undefined
  readonly tls: TlsFiles | undefined
  readonly live: LiveStream
  readonly offenders: Offenders
  /** A key as the lists of offenders show it. */
  readonly showKey: (key: string) => string
  readonly bounds: Bounds
  readonly log: Log
  /** Whether the service is on its way out. */
  readonly stopping: () => boolean
}

/**
 * For operators: every client that reaches it, and has the token or certificate that it asks for, may reset, block and reload; of the
 * pages that a browser shows only its own may.
 */
export function adminApp(parts: AdminParts): App {
  const { operations, rules, registry, readiness, names, token, tls, live, bounds, log, stopping } = parts
  const app = tls === undefined ? createApp(bounds, log, stopping) : tlsApp(tls, bounds, log, stopping)
  keepPagesOut(app, names, tls !== undefined)
  if (token !== undefined) requireToken(app, token)
  dashboardRoutes(app)
  healthRoutes(app, readiness)
  metricsRoute(app, registry)
  rulesRoute(app, rules)
  rlconfigRoute(app, rules)
  reloadRoute(app, operations, rules)
  resetRoute(app, operations, bounds)
  keyRoutes(app, operations, bounds)
  liveRoute(app, live)
  spikesRoute(app, live.figures.policySeconds)
  offendersRoute(app, parts.offenders, live.streams, parts.showKey)
  return app
}
