import { type BreakerState, type Event, type Observer, observerOf } from '@sluice/limiter/events'
import { FallbackStore } from '@sluice/limiter/stores/fallback'
import type { Store } from '@sluice/limiter/stores/store'
import type { WatchedStore } from './store-fails.ts'

const BY_ILLNESS: readonly BreakerState[] = ['closed', 'probing', 'open']

/**
 * An app's store, whose breaker may be in a middleware: then its state is what the events say. Several breakers over one
 * store are told apart by their shards alone.
 */
export class BreakerWatch implements WatchedStore {
  readonly store: Store | undefined
  readonly #states = new Map<number, BreakerState>()
  #shared: boolean

  constructor(store: Store | undefined) {
    this.store = store
    this.#shared = store?.async === true
  }

  readonly observe: Observer = observerOf(['breaker', 'store-answered', 'store-failed'], (event: Event) => {
    if (event.type === 'breaker') this.#states.set(event.shard, event.state)
    if (event.type === 'store-answered' || event.type === 'store-failed') this.#shared = true
  })

  /** `undefined` in memory, where nothing can fail. */
  get fallback(): { readonly state: BreakerState } | undefined {
    if (this.store instanceof FallbackStore) return this.store
    if (!this.#shared) return undefined
    const states = [...this.#states.values()]
    return { state: BY_ILLNESS.findLast((state) => states.includes(state)) ?? 'closed' }
  }
}
