import { ConfigError } from '../../core/errors.ts'
import { FallbackStore } from '../../stores/fallback.ts'
import { MemoryStore } from '../../stores/memory.ts'
import type { Store } from '../../stores/store.ts'
import type { Native } from './arrival.ts'
import { limiterQuotas, ruledQuotas } from './given-quotas.ts'
import { ownQuotas } from './own-quotas.ts'
import type { Quotas } from './quotas.ts'
import { oneOf, type Settings } from './settings.ts'

const LAW = [
  'period',
  'algorithm',
  'burst',
  'refill',
  'rounding',
  'soft',
  'shadow',
  'block',
  'identifier',
] as const
const SOME = ['plan', 'plans', 'overrides'] as const
const WHOSE = ['key', 'onMissingKey', 'ipv4Subnet', 'ipv6Subnet'] as const
const RULED = ['domain', 'attributes'] as const

/** The ways to say which limits apply, and what says nothing beside each. */
const SOURCES = {
  limit: [...RULED],
  policies: [...LAW, ...SOME, ...RULED],
  limiter: [...LAW, ...SOME, ...RULED, 'store', 'name', 'deadlineMs'],
  rules: [...LAW, ...SOME, ...WHOSE, 'onStoreError'],
} as const

/** @throws ConfigError unless exactly one source of limits is given, and nothing that it leaves without effect */
export function quotasOf<N extends Native>(settings: Settings<N>): Quotas<N> {
  const given = (Object.keys(SOURCES) as (keyof typeof SOURCES)[]).filter(
    (name) => settings[name] !== undefined,
  )
  const [source] = given
  if (source === undefined || given.length > 1) {
    throw new ConfigError(
      `give one of limit, policies, limiter and rules, not ${given.join(' and ') || 'none'}`,
    )
  }
  const idle = SOURCES[source].find(
    (name) => name in settings && (name !== 'name' || settings.name !== 'gate'),
  )
  if (idle !== undefined) throw new ConfigError(`${idle} has no effect beside ${source}`)
  const { onStoreError = 'open' } = settings
  oneOf('onStoreError', onStoreError, ['open', 'closed', 'local'])
  if (source === 'limiter') {
    if (onStoreError === 'local')
      throw new ConfigError('a limiter decides in this process by its own FallbackStore alone')
    return limiterQuotas(settings)
  }
  return source === 'rules'
    ? ruledQuotas(settings, storeOf(settings))
    : ownQuotas(settings, storeOf(settings))
}

/** What leaves the process is held to a deadline, and has something to fall back on. */
function storeOf<N extends Native>({ store, deadlineMs, logger, observe, name }: Settings<N>): Store {
  if (store === undefined) return new MemoryStore()
  if (typeof (store as Partial<Store>).decide !== 'function')
    throw new ConfigError('store must be a store of this library: those made for others count otherwise')
  if (!store.async || store instanceof FallbackStore) return store
  let last = ''
  return new FallbackStore(store, {
    ...(deadlineMs === undefined ? undefined : { deadlineMs }),
    onFailure(error, state) {
      observe?.({ type: 'store-failed', domain: name, error })
      if (state !== last)
        logger.error(`rate limit: the store of ${name} failed (${String(error)}); its breaker is ${state}`)
      last = state
    },
  })
}
