import { wallClock } from '../../../clock.ts'
import { ConfigError } from '../../../core/errors.ts'
import type { DialectWriter } from '../../../core/respond/dialect.ts'
import { type DialectName, type Dialects, writersOf } from '../../../core/respond/dialect-writers.ts'
import type { Timers } from '../../../flow/timers.ts'
import type { FrameworkArgs } from '../incoming-request.ts'
import { checkGateOptions, type OwnFields } from './fields.ts'
import { harmless } from './harmless.ts'
import type { AliasOptions, GateOptions, Logger } from './options.ts'

/** Options under one name each, with the defaults that several places share. */
export interface GateSettings<N extends FrameworkArgs>
  extends Omit<GateOptions<N>, keyof AliasOptions<N> | 'dialect'> {
  readonly name: string
  /** The dialects of the options, found and checked. */
  readonly dialect: readonly DialectWriter[]
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
/**
 * @param more checks for options that the framework's adapter reads itself
 * @throws ConfigError for options that are wrong, or two that say the same
 */
export function gateSettingsOf<N extends FrameworkArgs>(
  options: GateOptions<N>,
  more: OwnFields = {},
): GateSettings<N> {
  checkGateOptions(options, more)
  const given = Object.entries(options).filter(
    ([name, value]) => value !== undefined && !Object.hasOwn(more, name),
  )
  const settings: Record<string, unknown> = {}
  const set = (name: string, value: unknown): void => {
    if (Object.hasOwn(settings, name)) throw new ConfigError(`${name} is given twice, under two names`)
    settings[name] = value
  }
  for (const [name, value] of given) {
    if (!TRANSLATED.includes(name)) set(Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name, value)
  }
  for (const admits of [options.passOnStoreError, options.skipOnError]) {
    if (admits !== undefined) set('onStoreError', admits ? 'open' : 'closed')
  }
  const { standardHeaders, legacyHeaders, clock } = options
  if (standardHeaders !== undefined || legacyHeaders !== undefined) {
    set('dialect', [...standard(standardHeaders), ...(legacyHeaders ? ['x-ratelimit-epoch'] : [])])
  }
  if (settings.store !== undefined && settings.name === undefined) {
    throw new ConfigError('a limiter with a store needs a name, to keep its counters apart from others')
  }
  return {
    name: 'gate',
    requestPropertyName: 'rateLimit',
    logger: console,
    timers: globalThis as unknown as Timers,
    wallClock: clock === undefined ? wallClock() : () => Math.floor(clock.now() / 1_000),
    ...settings,
    dialect: writersOf((settings.dialect as Dialects | undefined) ?? 'ietf'),
    ...(options.observe && { observe: harmless(options.observe, options.logger ?? console) }),
  } as GateSettings<N>
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
  }
}

/** @throws ConfigError for options that wait for an outcome, where there is none to wait for */
export function withoutOutcomes(options: object): void {
  const late = ['skipFailedRequests', 'skipSuccessfulRequests', 'requestWasSuccessful', 'settleCost']
  const given = late.find((name) => Object.hasOwn(options, name))
  if (given !== undefined)
    throw new ConfigError(`${given} has no effect here: there is no response to wait for`)
}
