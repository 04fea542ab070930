import type { App } from '../app.ts'

/** Why the service should be sent no requests, none when it should; and what is not as it should be. */
export type Readiness = () => Promise<{
  readonly reasons: readonly string[]
  readonly warnings: readonly string[]
}>

/** `/healthz`: the process answers. `/readyz`: it should be sent requests, or 503 and why not. */
export function healthRoutes(app: App, readiness: Readiness): void {
  app.get('/healthz', { config: { open: true } }, async () => ({ status: 'ok' }))
  app.get('/readyz', { config: { open: true } }, async (_request, reply) => {
    const { reasons, warnings } = await readiness()
    const ready = reasons.length === 0
    return reply.code(ready ? 200 : 503).send({ ready, reasons, warnings })
  })
}
