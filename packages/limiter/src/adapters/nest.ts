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
import { APP_GUARD, ModulesContainer } from '@nestjs/core'
import { ConfigError } from '../core/errors.ts'
import {
  anything,
  checkOptions,
  flag,
  func,
  listOf,
  type OptionCheck,
  objectOf,
  recordOf,
} from '../core/options.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Gate } from './gate/gate.ts'
import { evaluated, type RateLimitInfo, type ResponseWriter } from './gate/hosts/node-http.ts'
import type { IncomingRequest } from './gate/incoming-request.ts'
import type { CheckedDurations } from './gate/options/checked-durations.ts'
import type { Verdict } from './gate/verdict/verdict.ts'
import { Gates, THROTTLE } from './nest/gates.ts'
import { type NestModuleOptions, type NestOptions, OF_HANDLER, translated } from './nest/options.ts'
import { type NestArgs, partsOf } from './nest/parts.ts'
import { exceptionOf } from './nest/refusal.ts'

export type { NestModuleOptions, NestOptions, RateLimitInfo }

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
export function Throttle<const Text extends string = string>(
  options:
    | (NestOptions & CheckedDurations<Text>)
    | { readonly default: NestOptions & CheckedDurations<Text> },
): MethodDecorator & ClassDecorator {
  const own = hasDefault(options)
    ? translated(byDefault(options, anything), OF_HANDLER, 'default')
    : translated(options, OF_HANDLER)
  return SetMetadata(THROTTLE, own)
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
  return SetMetadata(THROTTLE, !byDefault(skip, flag))
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

  /** @throws ConfigError for invalid options */
  constructor(options: NestModuleOptions | Gates) {
    this.#gates = options instanceof Gates ? options : new Gates(options)
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { gate, exception } = this.#gates.asked({
      owner: context.getClass(),
      handler: context.getHandler(),
    })
    if (gate === undefined) return true
    const { incoming, response } = partsOf(context)
    const verdict = await (response === undefined ? gate.enter(incoming) : entered(gate, incoming, response))
    if (verdict === undefined || (response === undefined && !(await verdict.wait()))) return false
    const { refusal, info } = verdict
    if (refusal === undefined) return true
    if (exception !== undefined && refusal.byQuota) throw exception(context, info)
    throw await exceptionOf(context, refusal, verdict)
  }
}
Inject(Gates)(RateLimitGuard, undefined, 0)

const ASYNC = objectOf<Parameters<typeof RateLimitModule.forRootAsync>[0]>(
  { imports: listOf(anything), inject: listOf(anything), useFactory: func },
  ['useFactory'],
  { what: 'an object with useFactory' },
)

/**
 * Guards the whole application.
 * @example
 * @Module({ imports: [RateLimitModule.forRoot({ limit: 100, period: '1m' })] })
 * class AppModule {}
 */
// biome-ignore lint/complexity/noStaticOnlyClass: Nest's modules are classes
export class RateLimitModule {
  /** @throws ConfigError for invalid options */
  static forRoot<const Text extends string = string>(
    options: NestModuleOptions & CheckedDurations<Text>,
  ): DynamicModule {
    translated(options)
    return guarding({ useFactory: (modules: ModulesContainer) => new Gates(options).prepare(modules) })
  }

  /** The same, with options that need what is injected. @throws ConfigError for invalid options */
  static forRootAsync(options: {
    readonly imports?: NonNullable<ModuleMetadata['imports']>
    readonly inject?: InjectionToken[]
    // biome-ignore lint/suspicious/noExplicitAny: whatever is injected
    readonly useFactory: (...injected: any[]) => NestModuleOptions | Promise<NestModuleOptions>
  }): DynamicModule {
    checkOptions(options, ASYNC)
    const { imports, inject, useFactory } = options
    const gates = async (modules: ModulesContainer, ...injected: unknown[]): Promise<Gates> =>
      new Gates(await useFactory(...injected)).prepare(modules)
    return guarding({ useFactory: gates, inject: inject ?? [] }, imports)
  }
}
Module({})(RateLimitModule)

function guarding(
  {
    useFactory,
    inject = [],
  }: {
    readonly useFactory: (modules: ModulesContainer, ...injected: unknown[]) => unknown
    readonly inject?: readonly InjectionToken[]
  },
  imports?: NonNullable<ModuleMetadata['imports']>,
): DynamicModule {
  return {
    module: RateLimitModule,
    global: true,
    providers: [
      { provide: Gates, useFactory, inject: [ModulesContainer, ...inject] },
      { provide: APP_GUARD, useClass: RateLimitGuard },
    ],
    exports: [Gates],
    ...(imports && { imports }),
  }
}

/** What is said by the one name that there is. */
function byDefault<T>(said: { readonly default: T }, check: OptionCheck): T {
  checkOptions(said, recordOf(anything, 'an object with default'))
  const other = Object.keys(said).find((name) => name !== 'default')
  if (other !== undefined)
    throw new ConfigError(
      `no limit is named "${other}" here, only default: give policies by name, for all of them together`,
      {
        path: [other],
      },
    )
  checkOptions(said, objectOf<{ default: T }>({ default: check }, ['default']))
  return said.default
}

function hasDefault(options: object): options is { readonly default: NestOptions } {
  return typeof options === 'object' && options !== null && 'default' in options
}

function entered(
  gate: Gate<NestArgs>,
  incoming: IncomingRequest<NestArgs>,
  response: ServerResponse,
): MaybePromise<Verdict | undefined> {
  return evaluated(gate, incoming, WRITER, response)
}

const WRITER: ResponseWriter<ServerResponse> = {
  response: (response) => response,
  setHeader: (response, name, value) => response.setHeader(name, value),
  getHeader: (response, name) => response.getHeader(name),
}
