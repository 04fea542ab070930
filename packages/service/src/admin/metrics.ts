import type { Registry } from 'prom-client'
import type { App } from '../app.ts'

/** `GET /metrics`, as Prometheus reads it. */
export function metricsRoute(app: App, registry: Registry): void {
  app.get('/metrics', async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  )
}
