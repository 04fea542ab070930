import { dashboardFiles, OWN_PAGES_ONLY } from '@sluice/observe/parts'
import type { App } from '../app.ts'

/** `GET /`: the page for operators. */
export function dashboardRoutes(app: App): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(OWN_PAGES_ONLY)
    done()
  })
  for (const { path, headers, content } of dashboardFiles())
    app.get(path, { config: { open: true } }, (_request, reply) => reply.headers(headers).send(content()))
}
