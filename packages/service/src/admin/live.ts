import type { LiveSecond } from '@sluice/observe/live'
import type { LiveFigures } from '@sluice/observe/parts'
import type { App } from '../app.ts'
import { type EventStreams, eventText } from './event-streams.ts'

/** What the streams are fed by. */
export interface LiveStream {
  readonly figures: LiveFigures
  readonly streams: EventStreams
  /** Ends a second. */
  tick(): void
}

/** `GET /v1/live`: server-sent events, first `history`, then `second` for every second. */
export function liveRoute(app: App, { figures, streams }: LiveStream): void {
  let sent: LiveSecond | undefined
  let text = ''
  app.get('/v1/live', (_request, reply) => {
    streams.add(reply, eventText('history', figures.history), () => {
      const last = figures.history.seconds.at(-1)
      if (last !== sent) text = eventText('second', last) // once for all streams
      sent = last
      return text
    })
  })
}
