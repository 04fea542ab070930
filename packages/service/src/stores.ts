import { DenyCache } from '@sluice/limiter/stores/deny-cache'
import { FallbackStore } from '@sluice/limiter/stores/fallback'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { PrepaidStore } from '@sluice/limiter/stores/prepaid'
import type { Store } from '@sluice/limiter/stores/store'
import type { ServiceOptions } from './service-options.ts'

/** What decisions are asked of, and what stands before it where that is outside this process. */
export interface Stores {
  readonly store: Store
  readonly fallback?: FallbackStore
  readonly refusals?: DenyCache
  readonly prepaid?: PrepaidStore
}

/** Who is told how the shared store does. */
interface StoreWatch {
  answered(ms: number): void
  failed(error: unknown): void
}

/** A store outside this process may be slow or gone: every rule says what happens then. */
export function storesFor(options: ServiceOptions, watch: StoreWatch): Stores {
  const { store = new MemoryStore(), fallback: settings, denyCache = true, prepaid: leases } = options
  if (!store.async || store instanceof DenyCache || store instanceof PrepaidStore) return { store }
  const fallback =
    store instanceof FallbackStore
      ? store
      : new FallbackStore(store, { ...settings, onAnswer: watch.answered, onFailure: watch.failed })
  const refusals =
    denyCache === false ? undefined : new DenyCache(fallback, denyCache === true ? {} : denyCache)
  const prepaid = new PrepaidStore(refusals ?? fallback, leases)
  return { store: prepaid, fallback, prepaid, ...(refusals && { refusals }) }
}
