import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Bounds } from './bounds.ts'
import { HttpError } from './problem.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Requests that are not answered yet. */
    requestsInFlight: () => number
  }
  interface FastifyReply {
    /** Bytes that its request and its answer hold. */
    bytesInFlight: number
  }
}

/**
 * Bounds the bodies that are being read or decided and the answers that are not sent yet, over all connections: at
 * the bound, requests are answered 503 before their bodies are read. Bodies that only a batch may have get half of
 * it, so that batches leave room for others.
 */
export function boundBytesInFlight(
  app: FastifyInstance,
  { maxBytesInFlight, maxBodyBytes }: Pick<Bounds, 'maxBytesInFlight' | 'maxBodyBytes'>,
): void {
  let inFlight = 0
  let requests = 0
  app.decorate('requestsInFlight', () => requests)
  app.decorateReply('bytesInFlight', 0)
  app.addHook('onRequest', (request, reply, done) => {
    requests++
    reply.raw.on('close', () => {
      requests--
      inFlight -= reply.bytesInFlight
    })
    const bytes = bodyBytes(request, maxBodyBytes)
    const most = bytes > maxBodyBytes ? maxBytesInFlight / 2 : maxBytesInFlight
    if (inFlight + bytes > most) {
      reply.header('Retry-After', '1')
      done(new HttpError(503, 'the service holds as many bytes of requests and answers as it may: ask again'))
      return
    }
    inFlight += bytes
    reply.bytesInFlight = bytes
    done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    // Streams are made as they are sent.
    if (typeof payload === 'string') {
      inFlight += payload.length
      reply.bytesInFlight += payload.length
    }
    done(null, payload)
  })
}

/** What the body may take: what it says, or as much as its route allows where it does not say. */
function bodyBytes({ headers, routeOptions }: FastifyRequest, maxBodyBytes: number): number {
  const most = routeOptions.bodyLimit ?? maxBodyBytes
  const length = headers['content-length']
  if (length !== undefined) return Math.min(Number(length), most)
  return headers['transfer-encoding'] === undefined ? 0 : most
}
