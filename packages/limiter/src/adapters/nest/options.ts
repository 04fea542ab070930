import type { ExecutionContext } from '@nestjs/common'
import { ConfigError, type FieldPath } from '../../core/errors.ts'
import { anything, durationCheck, flag, func, type OptionFields, wholeFrom } from '../../core/options.ts'
import type { RateLimitInfo } from '../gate/hosts/node-http.ts'
import { checkGateOptions } from '../gate/options/fields.ts'
import type { GateOptions } from '../gate/options/options.ts'
import { type NestArgs, requestOf } from './parts.ts'

/** Names that @nestjs/throttler has for the same things. */
interface ThrottlerNames {
  /** `period`, in milliseconds. */
  readonly ttl?: number
  /** `skip` */
  readonly skipIf?: (context: ExecutionContext) => boolean | PromiseLike<boolean>
  /** `key`. It is given the request of HTTP or GraphQL, or the client of a gateway. */
  // biome-ignore lint/suspicious/noExplicitAny: what it is given is the platform's
  readonly getTracker?: (request: any, context: ExecutionContext) => string | PromiseLike<string>
  /** `message` */
  readonly errorMessage?: GateOptions<NestArgs>['message']
  /** `dialect: []` where false. */
  readonly setHeaders?: boolean
  /** `ipv6Subnet` */
  readonly ipv6SubnetPrefix?: number
}

export interface NestOptions extends GateOptions<NestArgs>, ThrottlerNames {
  /**
   * Makes what is thrown on a refusal by a quota. Default: an HttpException with the refusal's status and body; for
   * GraphQL one whose `extensions` servers read; for gateways a WsException with the body.
   */
  readonly exception?: (context: ExecutionContext, info: RateLimitInfo) => Error
}

export interface NestModuleOptions extends NestOptions {
  /** Limit every handler, by one limiter (default), or only those that ask for it. */
  readonly global?: boolean
}

/** Options of a handler or class that the gate does not know. */
export const OF_HANDLER: OptionFields<Omit<NestOptions, keyof GateOptions<NestArgs>>> = {
  exception: func,
  ttl: durationCheck,
  skipIf: func,
  getTracker: func,
  errorMessage: anything,
  setHeaders: flag,
  ipv6SubnetPrefix: wholeFrom(32, 128),
}
/** The same, of a module. */
export const OF_MODULE: OptionFields<Omit<NestModuleOptions, keyof GateOptions<NestArgs>>> = {
  ...OF_HANDLER,
  global: flag,
}

/**
 * Options under our names.
 * @param fields checks for those that the gate does not know
 * @param path what stands before the names in messages
 * @throws ConfigError for what is wrong, or is there under both names
 */
export function translated(
  options: NestModuleOptions,
  fields: typeof OF_HANDLER = OF_MODULE,
  ...path: FieldPath
): NestModuleOptions {
  if (Array.isArray(options))
    throw new ConfigError(`options are no list: give limit and period, or policies by name`)
  checkGateOptions(options, fields, ...path)
  const { ttl, skipIf, getTracker, errorMessage, setHeaders, ipv6SubnetPrefix, ...ours } = options
  const theirs: NestModuleOptions = {
    ...(ttl !== undefined && { period: ttl }),
    ...(skipIf && { skip: skipIf }),
    ...(getTracker && { key: (context) => getTracker(requestOf(context), context) }),
    ...(errorMessage !== undefined && { message: errorMessage }),
    ...(setHeaders === false && { dialect: [] }),
    ...(ipv6SubnetPrefix !== undefined && { ipv6Subnet: ipv6SubnetPrefix }),
  }
  const twice = Object.keys(theirs).find((name) => ours[name as keyof typeof ours] !== undefined)
  if (twice !== undefined) throw new ConfigError(`${twice} is given twice, under two names`)
  return { ...ours, ...theirs }
}
