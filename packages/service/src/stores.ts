import { tracedStore } from '@sluice/limiter/diagnostics'
import type { Observer } from '@sluice/limiter/events'
import { DenyCache } from '@sluice/limiter/stores/deny-cache'
import { FallbackStore } from '@sluice/limiter/stores/fallback'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { PrefetchStore } from '@sluice/limiter/stores/prefetch'
import type { Store } from '@sluice/limiter/stores/store'
import type { ServiceOptions } from './service-options.ts'

/** What decisions are asked of, and what stands before it where that is outside this process. */
export interface Stores {
  readonly store: Store
  readonly fallback?: FallbackStore
  readonly prefetch?: PrefetchStore
}

/** A store outside this process may be slow or down: every rule says what happens then. */
export function storesFor(options: ServiceOptions, observe: Observer): Stores {
  const { telemetry } = options
  const { store = new MemoryStore(), fallback: settings, denyCache = true, prefetch } = options
  if (!store.async || store instanceof DenyCache || store instanceof PrefetchStore) return { store }
  const fallback =
    store instanceof FallbackStore
      ? store
      : new FallbackStore(tracedStore(telemetry?.watchStore(store) ?? store), { ...settings, observe })
  const asked =
    denyCache === false
      ? fallback
      : new DenyCache(fallback, { ...(denyCache === true ? undefined : denyCache), observe })
  const ahead = new PrefetchStore(asked, { ...prefetch, observe })
  const decided = tracedStore(ahead, 'sluice:decide')
  return { store: telemetry?.watchDecisions(decided) ?? decided, fallback, prefetch: ahead }
}
