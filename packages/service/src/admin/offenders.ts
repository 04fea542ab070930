import type { Offenders } from '@sluice/limiter/offenders'
import { type EventStreams, offendersCall } from '@sluice/observe/parts'
import type { App } from '../app.ts'
import { sendStream } from './live.ts'

/**
 * `GET /v1/offenders`: the keys that each policy refuses most, and those that come most often. With
 * `accept: text/event-stream`, the same every 5 seconds.
 * @param show a key as it is shown
 */
export function offendersRoute(
  app: App,
  offenders: Offenders,
  streams: EventStreams,
  show: (key: string) => string,
): void {
  app.get('/v1/offenders', (request, reply) => {
    const { body, stream } = offendersCall(
      offenders,
      show,
      request.query as Readonly<Record<string, unknown>>,
    )
    if (!/\btext\/event-stream\b/.test(request.headers.accept ?? '')) return reply.send(body())
    sendStream(streams, reply, stream())
  })
}
