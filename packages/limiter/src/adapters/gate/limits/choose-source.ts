import { ConfigError } from '../../../core/errors.ts'
import type { Observer } from '../../../observe/events.ts'
import { FallbackStore } from '../../../stores/fallback.ts'
import { MemoryStore } from '../../../stores/memory.ts'
import type { Store } from '../../../stores/store.ts'
import type { FrameworkArgs } from '../incoming-request.ts'
import type { Logger } from '../options/options.ts'
import type { GateSettings } from '../options/settings.ts'
import { fromLimiter } from './from-limiter.ts'
import { fromPolicies, POLICY_OPTIONS } from './from-policies.ts'
import { fromRules } from './from-rules.ts'
import type { LimitSource } from './limit-source.ts'

const OF_POLICY = ['period', ...POLICY_OPTIONS, 'identifier'] as const
const OF_CALLERS = ['plan', 'plans', 'overrides'] as const
const OF_KEYS = ['key', 'onMissingKey', 'ipv4Subnet', 'ipv6Subnet'] as const
const OF_RULES = ['domain'] as const

/** The ways to say which limits apply, and what has no effect beside each. */
const SOURCES = {
  limit: [...OF_RULES],
  policies: [...OF_POLICY, ...OF_CALLERS, ...OF_RULES],
  limiter: [...OF_POLICY, ...OF_CALLERS, ...OF_RULES, 'store', 'name', 'deadlineMs', 'clock'],
  rules: [...OF_POLICY, ...OF_CALLERS, ...OF_KEYS, 'onStoreError'],
} as const

/** @throws ConfigError unless exactly one source of limits is given, and nothing that it leaves without effect */
export function limitSourceOf<N extends FrameworkArgs>(settings: GateSettings<N>): LimitSource<N> {
  const given = (Object.keys(SOURCES) as (keyof typeof SOURCES)[]).filter(
    (name) => settings[name] !== undefined,
  )
  const [source] = given
  if (source === undefined || given.length > 1) {
    throw new ConfigError(
      `give one of limit, policies, limiter and rules, not ${given.join(' and ') || 'none'}${given.length === 0 ? '; for example { limit: 100, period: "15m" }' : ''}`,
    )
  }
  const idle = SOURCES[source].find(
    (name) => name in settings && (name !== 'name' || settings.name !== 'gate'),
  )
  if (idle !== undefined) throw new ConfigError(`${idle} has no effect beside ${source}`)
  if (settings.attributes !== undefined && source !== 'rules' && !Array.isArray(settings.key))
    throw new ConfigError(`attributes has no effect beside ${source}, unless key is a list of parts`)
  const { onStoreError = 'open' } = settings
  if (source === 'limiter') {
    if (onStoreError === 'local')
      throw new ConfigError('a limiter decides in this process by its own FallbackStore alone')
    return fromLimiter(settings)
  }
  return source === 'rules'
    ? fromRules(settings, storeOf(settings))
    : fromPolicies(settings, storeOf(settings))
}

/** What leaves the process is held to a deadline, and has something to fall back on. */
function storeOf<N extends FrameworkArgs>({
  store,
  clock,
  deadlineMs,
  logger,
  observe,
  name,
}: GateSettings<N>): Store {
  if (store === undefined) return new MemoryStore(clock === undefined ? {} : { clock })
  if (clock !== undefined)
    throw new ConfigError('clock has no effect beside store, which has a clock of its own', {
      path: ['clock'],
    })
  if (!store.async || store instanceof FallbackStore) return store
  return new FallbackStore(store, {
    ...(deadlineMs === undefined ? undefined : { deadlineMs }),
    observe: withLog(name, logger, observe),
  })
}

/** Passes events on, and logs what happens to the store: a failure, and each change of its breaker. */
function withLog(name: string, logger: Logger, observe: Observer | undefined): Observer {
  let failing = false
  let cause: unknown
  return (event) => {
    observe?.(event)
    if (event.type === 'store-answered') failing = false
    if (event.type === 'store-failed') {
      cause = event.error
      if (!failing) logger.error(`rate limit: the store of ${name} failed (${String(cause)})`)
      failing = true
    }
    if (event.type === 'breaker' && event.state === 'open') {
      logger.error(`rate limit: the store of ${name} is not asked while it keeps failing (${String(cause)})`)
    }
  }
}
