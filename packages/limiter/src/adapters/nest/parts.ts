import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionContext } from '@nestjs/common'
import { anew, incomingRequestOf } from '../gate/hosts/node-http.ts'
import type { IncomingRequest } from '../gate/incoming-request.ts'

export type NestArgs = [ExecutionContext]

/** What a limiter needs of whatever is about to be handled. */
export interface Parts {
  readonly incoming: IncomingRequest<NestArgs>
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
  const args: NestArgs = [context]
  switch (context.getType<string>()) {
    case 'http': {
      const [request, response] = context.getArgs<[Raw<IncomingMessage>, Raw<ServerResponse>]>()
      return { incoming: incomingRequestOf(rawOf(request), args, request), response: rawOf(response) }
    }
    case 'graphql': {
      const { req, request = req, res, reply = res } = context.getArgByIndex<GraphqlContext>(2)
      if (request === undefined) return { incoming: bareArrival(args) }
      return {
        incoming: anew(incomingRequestOf(rawOf(request), args)),
        response: reply && rawOf(reply),
      }
    }
    case 'ws':
      return { incoming: socketArrival(context.switchToWs().getClient(), args) }
    default:
      return { incoming: bareArrival(args) }
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
  readonly handshake?: {
    readonly address?: string
    readonly headers?: IncomingRequest<NestArgs>['headers']
  }
}

function socketArrival({ _socket, handshake }: Client, args: NestArgs): IncomingRequest<NestArgs> {
  return {
    ...bareArrival(args),
    peer: handshake?.address ?? _socket?.remoteAddress,
    headers: handshake?.headers ?? {},
  }
}

function bareArrival(args: NestArgs): IncomingRequest<NestArgs> {
  return { args, method: '', url: '/', host: undefined, peer: undefined, headers: {}, request: {} }
}
