import { type PolicySeconds, spikesCall } from '@sluice/observe/parts'
import type { App } from '../app.ts'

/** `GET /v1/spikes`: what policies were asked for and admitted, second by second. */
export function spikesRoute(app: App, seconds: PolicySeconds): void {
  app.get('/v1/spikes', ({ query }) => spikesCall(seconds, query as Readonly<Record<string, unknown>>))
}
