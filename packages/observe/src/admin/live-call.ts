import type { LiveFigures } from '../live/live-figures.ts'
import type { LiveSecond } from '../live/live-second.ts'
import { type EventSource, eventText } from './event-streams.ts'

/**
 * `GET /v1/live`: first `history`, then `second` for every second. It is called for each stream.
 * @example
 * const call = liveCall(figures)
 * streams.add(open, call())
 */
export function liveCall(figures: LiveFigures): () => EventSource {
  let sent: LiveSecond | undefined
  let text = ''
  return () => ({
    first: eventText('history', figures.history),
    ticked: () => {
      const last = figures.history.seconds.at(-1)
      if (last !== sent) text = eventText('second', last) // once for all streams
      sent = last
      return text
    },
  })
}
