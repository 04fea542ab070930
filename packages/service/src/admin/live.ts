import {
  type EventSource,
  type EventStreams,
  type LiveFigures,
  liveCall,
  nodeSink,
} from '@sluice/observe/parts'
import type { FastifyReply } from 'fastify'
import type { App } from '../app.ts'

/** What the streams are fed by. */
export interface LiveStream {
  readonly figures: LiveFigures
  readonly streams: EventStreams
  /** Ends a second. */
  tick(): void
}

/** `GET /v1/live`: server-sent events, first `history`, then `second` for every second. */
export function liveRoute(app: App, { figures, streams }: LiveStream): void {
  const call = liveCall(figures)
  app.get('/v1/live', (_request, reply) => sendStream(streams, reply, call()))
}

/** Answers with a stream. @throws HttpError where there are too many */
export function sendStream(streams: EventStreams, reply: FastifyReply, source: EventSource): void {
  streams.add(() => {
    const headers = reply.getHeaders() as Record<string, string>
    reply.hijack()
    return nodeSink(reply.raw, headers)
  }, source)
}
