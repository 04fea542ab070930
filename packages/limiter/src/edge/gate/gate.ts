import { fieldsOf, keylessCaller, keyReader } from '../../adapters/gate/caller/caller-key.ts'
import { type Gate, gateOf } from '../../adapters/gate/gate-of.ts'
import type { FrameworkArgs } from '../../adapters/gate/incoming-request.ts'
import { fromLimiter } from '../../adapters/gate/limits/from-limiter.ts'
import { harmless } from '../../adapters/gate/options/harmless.ts'
import type { GateSettings } from '../../adapters/gate/options/settings.ts'
import { wallClock } from '../../clock.ts'
import { checkOptions, type OptionCheck } from '../../core/options.ts'
import { ietf } from '../../core/respond/ietf.ts'
import type { Timers } from '../../flow/timers.ts'
import { andThen, maybePromise } from '../../maybe-promise.ts'
import { type EdgeOptions, edgeCheck, givenDialects } from './options.ts'

/**
 * The gate of every adapter, without what finds addresses, lists of callers, rules and names.
 * @param own checks for options that the framework's adapter reads itself
 * @throws ConfigError for options that are wrong
 */
export function edgeGate<N extends FrameworkArgs>(
  options: EdgeOptions<N>,
  own: Readonly<Record<string, OptionCheck>> = {},
): Gate<N> {
  checkOptions(options, edgeCheck(own))
  const { key, onMissingKey, observe, logger = console } = options
  const settings = {
    name: 'gate',
    requestPropertyName: 'rateLimit',
    timers: globalThis as unknown as Timers,
    wallClock: wallClock(),
    ...options,
    logger,
    dialect: givenDialects(options.dialect ?? ietf()),
    ...(observe && { observe: harmless(observe, logger) }),
  } as object as GateSettings<N> // its key is read here
  const read = keyReader(fieldsOf(settings), keylessCaller(onMissingKey))
  return gateOf({
    settings,
    source: fromLimiter(settings),
    findCaller: ({ args }) => andThen(maybePromise<unknown>(key(...args)), (own) => read(own, undefined)),
  })
}
