import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionContext } from '@nestjs/common'
import type { Arrival } from '../gate/arrival.ts'
import { anew, arrivalOf } from '../gate/node-http.ts'

export type Native = [ExecutionContext]

/** What a limiter needs of whatever is about to be handled. */
export interface Parts {
  readonly arrival: Arrival<Native>
  /** Absent where there is none: for messages, and where a GraphQL context has none. */
  readonly response?: ServerResponse | undefined
}

/** Fastify's requests and replies have those of Node inside. */
type Raw<T> = T & { readonly raw?: T }

interface GraphqlContext {
  readonly req?: Raw<IncomingMessage>
  readonly request?: Raw<IncomingMessage>
  readonly res?: Raw<ServerResponse>
  readonly reply?: Raw<ServerResponse>
}

export function partsOf(context: ExecutionContext): Parts {
  const native: Native = [context]
  switch (context.getType<string>()) {
    case 'http': {
      const [request, response] = context.getArgs<[Raw<IncomingMessage>, Raw<ServerResponse>]>()
      return { arrival: arrivalOf(rawOf(request), native, request), response: rawOf(response) }
    }
    case 'graphql': {
      const { req, request = req, res, reply = res } = context.getArgByIndex<GraphqlContext>(2)
      if (request === undefined) return { arrival: bareArrival(native) }
      return {
        arrival: anew(arrivalOf(rawOf(request), native)),
        response: reply && rawOf(reply),
      }
    }
    case 'ws':
      return { arrival: socketArrival(context.switchToWs().getClient(), native) }
    default:
      return { arrival: bareArrival(native) }
  }
}

/** Whatever is nearest to a request: that of HTTP or GraphQL, the client of a gateway. */
export function requestOf(context: ExecutionContext): unknown {
  if (context.getType<string>() !== 'graphql') return context.getArgByIndex(0)
  const { req, request = req } = context.getArgByIndex<GraphqlContext>(2)
  return request
}

function rawOf<T extends object>(wrapped: Raw<T>): T {
  return wrapped.raw ?? wrapped
}

/** Sockets of `ws` and of Socket.IO. */
interface Client {
  readonly _socket?: { readonly remoteAddress?: string }
  readonly handshake?: { readonly address?: string; readonly headers?: Arrival<Native>['headers'] }
}

function socketArrival({ _socket, handshake }: Client, native: Native): Arrival<Native> {
  return {
    ...bareArrival(native),
    peer: handshake?.address ?? _socket?.remoteAddress,
    headers: handshake?.headers ?? {},
  }
}

function bareArrival(native: Native): Arrival<Native> {
  return { native, method: '', url: '/', host: undefined, peer: undefined, headers: {}, holder: {} }
}
