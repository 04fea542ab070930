import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  HttpException,
  type InjectionToken,
  Module,
  type ModuleMetadata,
  SetMetadata,
} from '@nestjs/common'
import { APP_GUARD, Reflector } from '@nestjs/core'
import type { Arrival } from './gate/arrival.ts'
import { createGate, type Gate } from './gate/gate.ts'
import { mergedOptions } from './gate/merge.ts'
import { arrivalOf, judged, type RateLimitInfo } from './gate/node-http.ts'
import type { GateOptions } from './gate/options.ts'
import type { Verdict } from './gate/verdict.ts'

export type { RateLimitInfo }

type Native = [ExecutionContext]

export interface NestOptions extends GateOptions<Native> {
  /**
   * Makes what is thrown on a refusal by a quota: a WsException for gateways, say. Default: an HttpException with
   * the refusal's status and body.
   */
  readonly exception?: (context: ExecutionContext, info: RateLimitInfo) => Error
}

export interface NestModuleOptions extends NestOptions {
  /** Limit every handler, by one limiter (default), or only those that ask for it. */
  readonly global?: boolean
}

const THROTTLE = 'sluice:throttle'

/** Gives a handler limits of its own, or a class limits that its handlers share; all else is as the module says. */
export function Throttle(options: NestOptions): MethodDecorator & ClassDecorator {
  return SetMetadata(THROTTLE, options)
}

/** Leaves a handler, or the handlers of a class that don't say otherwise, unlimited. */
export function SkipThrottle(): MethodDecorator & ClassDecorator {
  return SetMetadata(THROTTLE, false)
}

/**
 * A guard for HTTP (over Express or Fastify), GraphQL and WebSockets. A field of a GraphQL operation counts as often
 * as it is resolved, so that aliases do not get by; a message counts like a request. Outcomes are those of HTTP
 * responses: without one, what was charged stays charged.
 */
export class RateLimitGuard implements CanActivate {
  readonly #options: NestModuleOptions
  readonly #reflector = new Reflector()
  readonly #general: Gate<Native> | undefined
  readonly #own = new WeakMap<object, Gate<Native>>()

  /** @throws ConfigError for options that mean nothing */
  constructor(options: NestModuleOptions) {
    this.#options = options
    this.#general = options.global === false ? undefined : gateOf(options)
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [own, target, id] = this.#asked(context)
    if (own === false) return true
    const gate = own === undefined ? this.#general : this.#gateOf(own, target, id)
    if (gate === undefined) return true
    const { arrival, response } = partsOf(context)
    const verdict = await (response === undefined ? gate.enter(arrival) : entered(gate, arrival, response))
    if (verdict === undefined || (response === undefined && !(await verdict.wait()))) return false
    const { refusal, info } = verdict
    if (refusal === undefined) return true
    const exception = own?.exception ?? this.#options.exception
    if (exception !== undefined && info !== undefined) throw exception(context, info)
    throw new HttpException(refusal.body as object, refusal.status)
  }

  /** What the handler, or else its class, asks for. */
  #asked(context: ExecutionContext): [NestOptions | false | undefined, object, string] {
    const handler = context.getHandler()
    const owner = context.getClass()
    const own = this.#reflector.get<NestOptions | false | undefined>(THROTTLE, handler)
    if (own !== undefined) return [own, handler, `${owner.name}.${handler.name}`]
    return [this.#reflector.get(THROTTLE, owner), owner, owner.name]
  }

  #gateOf(own: NestOptions, target: object, id: string): Gate<Native> {
    const known = this.#own.get(target)
    if (known !== undefined) return known
    const { name } = this.#options
    const general = name === undefined ? this.#options : { ...this.#options, name: `${name}/${id}` }
    const gate = gateOf(mergedOptions<NestModuleOptions>(general, own))
    this.#own.set(target, gate)
    return gate
  }
}

function gateOf(options: NestModuleOptions): Gate<Native> {
  return createGate<Native>(options, ['global', 'exception'])
}

/** Guards the whole application: `imports: [RateLimitModule.forRoot({ limit: 100, period: '1m' })]`. */
// biome-ignore lint/complexity/noStaticOnlyClass: Nest's modules are classes
export class RateLimitModule {
  /** @throws ConfigError for options that mean nothing */
  static forRoot(options: NestModuleOptions): DynamicModule {
    return guarding({ useFactory: () => new RateLimitGuard(options) })
  }

  /** The same, with options that need what is injected. */
  static forRootAsync(options: {
    readonly imports?: NonNullable<ModuleMetadata['imports']>
    readonly inject?: InjectionToken[]
    // biome-ignore lint/suspicious/noExplicitAny: whatever is injected
    readonly useFactory: (...injected: any[]) => NestModuleOptions | Promise<NestModuleOptions>
  }): DynamicModule {
    const { imports, inject, useFactory } = options
    const guard = async (...injected: unknown[]): Promise<RateLimitGuard> =>
      new RateLimitGuard(await useFactory(...injected))
    return guarding({ useFactory: guard, ...(inject && { inject }) }, imports)
  }
}
Module({})(RateLimitModule)

function guarding(
  provider: { useFactory: (...injected: unknown[]) => unknown; inject?: InjectionToken[] },
  imports?: NonNullable<ModuleMetadata['imports']>,
): DynamicModule {
  return {
    module: RateLimitModule,
    providers: [{ provide: APP_GUARD, ...provider }],
    ...(imports && { imports }),
  }
}

interface Parts {
  readonly arrival: Arrival<Native>
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

function partsOf(context: ExecutionContext): Parts {
  const native: Native = [context]
  switch (context.getType<string>()) {
    case 'http': {
      const [request, response] = context.getArgs<[Raw<IncomingMessage>, Raw<ServerResponse>]>()
      return { arrival: arrivalOf(rawOf(request), native), response: rawOf(response) }
    }
    case 'graphql': {
      const { req, request = req, res, reply = res } = context.getArgByIndex<GraphqlContext>(2)
      if (request === undefined) return { arrival: bareArrival(native) }
      return {
        arrival: { ...arrivalOf(rawOf(request), native), holder: {} },
        response: reply && rawOf(reply),
      }
    }
    case 'ws':
      return { arrival: socketArrival(context.switchToWs().getClient(), native) }
    default:
      return { arrival: bareArrival(native) }
  }
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

function entered(
  gate: Gate<Native>,
  arrival: Arrival<Native>,
  response: ServerResponse,
): Promise<Verdict | undefined> {
  const [context] = arrival.native
  return judged(gate, arrival, {
    response,
    setHeader: (name, value) => response.setHeader(name, value),
    getHeader: (name) => response.getHeader(name),
    show: (name, info) => {
      if (context.getType() === 'http') Object.assign(context.switchToHttp().getRequest(), { [name]: info })
    },
  })
}
