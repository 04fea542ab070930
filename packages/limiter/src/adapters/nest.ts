import type { ServerResponse } from 'node:http'
import {
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  Inject,
  type InjectionToken,
  Module,
  type ModuleMetadata,
  SetMetadata,
} from '@nestjs/common'
import { APP_GUARD, Reflector } from '@nestjs/core'
import { ConfigError } from '../core/errors.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Gate } from './gate/gate.ts'
import { evaluated, type RateLimitInfo, type ResponseWriter, showInfo } from './gate/hosts/node-http.ts'
import type { IncomingRequest } from './gate/incoming-request.ts'
import type { Verdict } from './gate/verdict/verdict.ts'
import { Gates } from './nest/gates.ts'
import { type NestModuleOptions, type NestOptions, translated } from './nest/options.ts'
import { type NestArgs, partsOf } from './nest/parts.ts'
import { exceptionOf } from './nest/refusal.ts'

export type { NestModuleOptions, NestOptions, RateLimitInfo }

const THROTTLE = 'sluice:throttle'

/**
 * Gives a handler limits of its own, or a class limits that its handlers share; all else is as the module says.
 * `{ default: options }`, as @nestjs/throttler has it, is the same.
 * @throws ConfigError for limits of another name
 * @example
 * class Sessions {
 *   @Throttle({ limit: 5, period: '1m' })
 *   @Post('login')
 *   login() {}
 * }
 */
export function Throttle(
  options: NestOptions | { readonly default: NestOptions },
): MethodDecorator & ClassDecorator {
  return SetMetadata(THROTTLE, translated('default' in options ? byDefault(options) : options))
}

/**
 * Leaves a handler, or the handlers of a class that don't say otherwise, unlimited. `{ default: false }` limits as the
 * module does a handler whose class is unlimited.
 * @throws ConfigError for limits of another name
 * @example
 * class Health {
 *   @SkipThrottle()
 *   @Get('health')
 *   health() {}
 * }
 */
export function SkipThrottle(
  skip: { readonly default: boolean } = { default: true },
): MethodDecorator & ClassDecorator {
  return SetMetadata(THROTTLE, !byDefault(skip))
}

/**
 * A guard for HTTP (over Express or Fastify), GraphQL and WebSockets. The module sets it up for all but gateways, for
 * which Nest has no global guards: they say `@UseGuards(RateLimitGuard)`. A field of a GraphQL operation counts as
 * often as it is resolved, so that aliases do not get by; a message counts like a request. Outcomes are those of HTTP
 * responses: without one, what was charged stays charged.
 * @example
 * @UseGuards(RateLimitGuard)
 * @WebSocketGateway()
 * class Chat {}
 */
export class RateLimitGuard implements CanActivate {
  readonly #gates: Gates
  readonly #reflector = new Reflector()

  /** @throws ConfigError for invalid options */
  constructor(options: NestModuleOptions | Gates) {
    this.#gates = options instanceof Gates ? options : new Gates(options)
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [own, target, id] = this.#asked(context)
    if (own === false) return true
    const gate = own === true ? this.#gates.general : this.#gates.ownOf(target, own, id)
    if (gate === undefined) return true
    const { incoming, response } = partsOf(context)
    const verdict = await (response === undefined ? gate.enter(incoming) : entered(gate, incoming, response))
    if (verdict === undefined || (response === undefined && !(await verdict.wait()))) return false
    const { refusal, info } = verdict
    if (refusal === undefined) return true
    const exception = (own === true ? undefined : own.exception) ?? this.#gates.exception
    if (exception !== undefined && info !== undefined) throw exception(context, info)
    throw await exceptionOf(context, refusal, verdict)
  }

  /** What the handler, or else its class, asks for: limits of its own, those of the module (true), or none. */
  #asked(context: ExecutionContext): [NestOptions | boolean, object, string] {
    const handler = context.getHandler()
    const owner = context.getClass()
    const own = this.#reflector.get<NestOptions | boolean | undefined>(THROTTLE, handler)
    if (own !== undefined) return [own, handler, `${owner.name}.${handler.name}`]
    return [this.#reflector.get(THROTTLE, owner) ?? true, owner, owner.name]
  }
}
Inject(Gates)(RateLimitGuard, undefined, 0)

/**
 * Guards the whole application.
 * @example
 * @Module({ imports: [RateLimitModule.forRoot({ limit: 100, period: '1m' })] })
 * class AppModule {}
 */
// biome-ignore lint/complexity/noStaticOnlyClass: Nest's modules are classes
export class RateLimitModule {
  /** @throws ConfigError for invalid options */
  static forRoot(options: NestModuleOptions): DynamicModule {
    return guarding({ useFactory: () => new Gates(options) })
  }

  /** The same, with options that need what is injected. */
  static forRootAsync(options: {
    readonly imports?: NonNullable<ModuleMetadata['imports']>
    readonly inject?: InjectionToken[]
    // biome-ignore lint/suspicious/noExplicitAny: whatever is injected
    readonly useFactory: (...injected: any[]) => NestModuleOptions | Promise<NestModuleOptions>
  }): DynamicModule {
    const { imports, inject, useFactory } = options
    const gates = async (...injected: unknown[]): Promise<Gates> => new Gates(await useFactory(...injected))
    return guarding({ useFactory: gates, ...(inject && { inject }) }, imports)
  }
}
Module({})(RateLimitModule)

function guarding(
  gates: { useFactory: (...injected: unknown[]) => unknown; inject?: InjectionToken[] },
  imports?: NonNullable<ModuleMetadata['imports']>,
): DynamicModule {
  return {
    module: RateLimitModule,
    global: true,
    providers: [
      { provide: Gates, ...gates },
      { provide: APP_GUARD, useClass: RateLimitGuard },
    ],
    exports: [Gates],
    ...(imports && { imports }),
  }
}

/** What is said by the one name that there is. */
function byDefault<T>(said: { readonly default: T }): T {
  const other = Object.keys(said).find((name) => name !== 'default')
  if (other === undefined) return said.default
  throw new ConfigError(`no limit is named "${other}" here: give policies by name, for all of them together`)
}

function entered(
  gate: Gate<NestArgs>,
  incoming: IncomingRequest<NestArgs>,
  response: ServerResponse,
): MaybePromise<Verdict | undefined> {
  return evaluated(gate, incoming, WRITER, [response, ...incoming.args])
}

const WRITER: ResponseWriter<[ServerResponse, ExecutionContext]> = {
  response: ([response]) => response,
  setHeader: ([response], name, value) => response.setHeader(name, value),
  getHeader: ([response], name) => response.getHeader(name),
  show([, context], name, info) {
    if (context.getType() === 'http') showInfo(context.switchToHttp().getRequest(), name, info)
  },
}
