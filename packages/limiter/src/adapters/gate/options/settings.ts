import { wallClock } from '../../../clock.ts'
import { algorithmOptions } from '../../../core/decide/algorithms.ts'
import { ConfigError } from '../../../core/errors.ts'
import { nearest } from '../../../core/nearest.ts'
import type { DialectName } from '../../../core/respond/dialects.ts'
import type { Timers } from '../../../flow/timers.ts'
import { maybePromise } from '../../../maybe-promise.ts'
import type { Observer } from '../../../observe/events.ts'
import type { FrameworkArgs } from '../incoming-request.ts'
import type { AliasOptions, GateOptions, Logger } from './options.ts'

/** Options under one name each, with the defaults that several places share. */
export interface GateSettings<N extends FrameworkArgs> extends Omit<GateOptions<N>, keyof AliasOptions<N>> {
  readonly name: string
  readonly requestPropertyName: string
  readonly logger: Logger
  readonly timers: Timers
  /** @param at what the monotonic clock has just said, if it was asked */
  readonly wallClock: (at?: number) => number
}

const ALIASES: Readonly<Record<string, string>> = {
  max: 'limit',
  windowMs: 'period',
  timeWindow: 'period',
  keyGenerator: 'key',
}
const TRANSLATED = ['passOnStoreError', 'skipOnError', 'standardHeaders', 'legacyHeaders']
/** Names that other libraries have for what is done otherwise here. */
const INSTEAD: Readonly<Record<string, string>> = {
  addHeaders: 'give dialect, [] for none',
  addHeadersOnExceeding: 'give headers: denied, or dialect',
  ban: 'give block',
  blockDuration: 'give block, with after: 1',
  cache: 'a store holds up to its maxKeys, and never evicts a live counter',
  continueExceeding: 'give block; a client that only retries is not punished',
  enableDraftSpec: 'give dialect: draft-06',
  exponentialBackoff: 'give block; a client that only retries is not punished',
  generateKey: 'give key; what shares a limiter counts together',
  ignoreUserAgents: 'give skip',
  nameSpace: 'give store and name',
  onBanReach: 'give onLimitReached',
  onExceeded: 'give onLimitReached',
  onExceeding: 'the application finds the figures under requestPropertyName',
  redis: 'give store and name',
  requestStorePropertyName: 'getKey and resetKey are the limiter’s own',
  storage: 'give store and name',
  throttlers: 'give limit and period, or policies by name',
}
const OPTION_NAMES =
  `limit period algorithm soft onLimit shadow block prefetch identifier policies limiter rules domain attributes
  plan plans overrides key onMissingKey address trustProxy proxyHeader ipv6Subnet ipv4Subnet allowList
  denyList cost skip skipFailedRequests skipSuccessfulRequests requestWasSuccessful settleCost statusCode message
  dialect headers retryAfter jitter exposeHeaders requestPropertyName tarpit maxWaiting onLimitReached name store
  onStoreError deadlineMs observe logger validate timers wallClock`
    .split(/\s+/)
    .concat([...algorithmOptions.keys()])

/**
 * @param more names of options that the framework's adapter reads itself
 * @throws ConfigError for an unknown option, or two that say the same
 */
export function gateSettingsOf<N extends FrameworkArgs>(
  options: GateOptions<N>,
  more: readonly string[] = [],
): GateSettings<N> {
  const given = Object.entries(options).filter(([name, value]) => value !== undefined && !more.includes(name))
  const settings: Record<string, unknown> = {}
  const set = (name: string, value: unknown): void => {
    if (Object.hasOwn(settings, name)) throw new ConfigError(`${name} is given twice, under two names`)
    settings[name] = value
  }
  checkNames(options, more)
  for (const [name, value] of given) {
    if (!TRANSLATED.includes(name)) set(Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name, value)
  }
  const onStoreError = options.passOnStoreError ?? options.skipOnError
  if (onStoreError !== undefined) set('onStoreError', onStoreError ? 'open' : 'closed')
  const { standardHeaders, legacyHeaders } = options
  if (standardHeaders !== undefined || legacyHeaders !== undefined) {
    set('dialect', [...standard(standardHeaders), ...(legacyHeaders ? ['x-ratelimit-epoch'] : [])])
  }
  for (const name of ['allowList', 'denyList']) {
    if (settings[name] !== undefined && !Array.isArray(settings[name]))
      throw new ConfigError(
        `${name} must be a list of keys, addresses and CIDRs; to decide by request, give skip`,
      )
  }
  if (settings.identifier !== undefined && typeof settings.identifier !== 'string')
    throw new ConfigError('identifier must be text: policies of several names are given as policies')
  if (settings.store !== undefined && settings.name === undefined) {
    throw new ConfigError('a limiter with a store needs a name, to keep its counters apart from others')
  }
  return {
    name: 'gate',
    requestPropertyName: 'rateLimit',
    logger: console,
    timers: globalThis as unknown as Timers,
    wallClock: wallClock(),
    ...settings,
    ...(options.observe && { observe: harmless(options.observe, options.logger ?? console) }),
  } as GateSettings<N>
}

/** The same observer: its failure is logged, and is none of the request's. */
function harmless(observe: Observer, logger: Logger): Observer {
  const failed = (error: unknown): void => logger.error(`rate limit: observe failed (${String(error)})`)
  return (event) => {
    try {
      const result = maybePromise<unknown>(observe(event))
      if (result instanceof Promise) result.catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}

function standard(value: AliasOptions<FrameworkArgs>['standardHeaders']): DialectName[] {
  switch (value) {
    case undefined:
    case false:
      return []
    case true:
    case 'draft-6':
      return ['draft-06']
    case 'draft-7':
      return ['draft-07']
    case 'draft-8':
      return ['ietf']
    default:
      throw new ConfigError(
        `standardHeaders may be true, false, draft-6, draft-7 or draft-8, not ${String(value)}`,
      )
  }
}

/**
 * @param more names of options that the framework's adapter reads itself
 * @throws ConfigError for an unknown option
 */
export function checkNames(options: object, more: readonly string[]): void {
  const known = [...OPTION_NAMES, ...Object.keys(ALIASES), ...TRANSLATED, ...more]
  const wrong = Object.entries(options).find(([name, value]) => value !== undefined && !known.includes(name))
  if (wrong !== undefined) throw unknownOption(wrong[0], known)
}

function unknownOption(name: string, known: readonly string[]): ConfigError {
  if (Object.hasOwn(INSTEAD, name)) return new ConfigError(`no option is named "${name}": ${INSTEAD[name]}`)
  const right = nearest(name, known)
  return new ConfigError(
    `no option is named ${JSON.stringify(name)}${right ? `; did you mean ${right}?` : ''}`,
  )
}

/** @throws ConfigError unless `value` is one of these */
export function oneOf<T extends string>(name: string, value: T, known: readonly T[]): T {
  if (known.includes(value)) return value
  throw new ConfigError(`${name} may be ${known.join(', ')}, not ${JSON.stringify(value)}`)
}

/** @throws ConfigError for options that wait for an outcome, where there is none to wait for */
export function withoutOutcomes(options: object): void {
  const late = ['skipFailedRequests', 'skipSuccessfulRequests', 'requestWasSuccessful', 'settleCost']
  const given = late.find((name) => Object.hasOwn(options, name))
  if (given !== undefined)
    throw new ConfigError(`${given} has no effect here: there is no response to wait for`)
}
