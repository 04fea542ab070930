import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Bounds } from './bounds.ts'
import { HttpError } from './problem.ts'

declare module 'fastify' {
  interface FastifyInstance {
    inFlight: InFlight
  }
  interface FastifyReply {
    /** What its request and its answer hold. */
    held: HeldBytes | null
  }
}

/** The requests of a listener that are not answered yet, and the bytes that they and their answers hold. */
class InFlight {
  requests = 0
  bytes = 0

  enter({ socket }: IncomingMessage, response: ServerResponse): HeldBytes {
    this.requests++
    // Behind another answer on its connection, one has no socket yet, and does not close where that ends first.
    const held = new HeldBytes(this, response.socket === null ? socket : undefined)
    response.on('close', held.leave)
    return held
  }
}

/** The part of one request. */
class HeldBytes {
  readonly #all: InFlight
  readonly #socket: Socket | undefined
  #bytes = 0
  #left = false

  constructor(all: InFlight, socket?: Socket) {
    this.#all = all
    this.#socket = socket
    socket?.setMaxListeners(0).on('close', this.leave)
  }

  /** Nothing once the client has gone: whatever was added then would never be taken off. */
  add(bytes: number): void {
    if (this.#left) return
    this.#bytes += bytes
    this.#all.bytes += bytes
  }

  readonly leave = (): void => {
    if (this.#left) return
    this.#left = true
    this.#socket?.off('close', this.leave)
    this.#all.requests--
    this.#all.bytes -= this.#bytes
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
  const inFlight = new InFlight()
  app.decorate('inFlight', inFlight)
  app.decorateReply('held', null)
  app.addHook('onRequest', (request, reply, done) => {
    const held = inFlight.enter(request.raw, reply.raw)
    const bytes = bodyBytes(request, maxBodyBytes)
    const most = bytes > maxBodyBytes ? maxBytesInFlight / 2 : maxBytesInFlight
    reply.held = held
    if (inFlight.bytes + bytes > most) {
      reply.header('Retry-After', '1')
      done(new HttpError(503, 'the service holds as many bytes of requests and answers as it may: ask again'))
      return
    }
    held.add(bytes)
    done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    // Streams are made as they are sent.
    if (typeof payload === 'string') reply.held?.add(payload.length)
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
