import { ConfigError } from '../core/errors.ts'
import { andThen } from '../maybe-promise.ts'
import type { Store } from '../stores/store.ts'
import {
  type CompatOptions,
  counterPlaceOf,
  type HitCounter,
  type Hits,
  hitCounter,
} from './counters/hits.ts'

type Callback = (error: Error | null, result?: { current: number; ttl: number }) => void

/** What a store reads of the plugin's, or a route's, options. */
interface PluginOptions {
  readonly continueExceeding?: boolean
  readonly exponentialBackoff?: boolean
  readonly groupId?: string
  readonly routeInfo?: { readonly method?: string | readonly string[]; readonly url?: string }
}

/** The store contract of @fastify/rate-limit. */
export interface FastifyRateLimitStore {
  incr(key: string, callback: Callback, timeWindow: number, max?: number): void
  read(key: string, callback: Callback, timeWindow: number, max?: number): void
  child(routeOptions: object): FastifyRateLimitStore
}

/**
 * A store for @fastify/rate-limit. Routes of one `groupId` are limited together.
 * @throws ConfigError for a store of yours without a name
 * @example
 * await app.register(rateLimit, { max: 100, timeWindow: '1 minute', store: fastifyRateLimitStore() })
 */
export function fastifyRateLimitStore(
  options: CompatOptions = {},
): new (
  plugin: object,
) => FastifyRateLimitStore {
  const { store, name } = counterPlaceOf(options, 'fastify-rate-limit')
  return class extends RouteStore {
    constructor(plugin: object) {
      super(store, name, plugin)
    }
  }
}

/** Windows kept ready, where a function gives them. */
const MAX_WINDOWS = 100

class RouteStore implements FastifyRateLimitStore {
  readonly #store: Store
  readonly #name: string
  readonly #counters = new Map<number, HitCounter>()

  constructor(store: Store, name: string, plugin: object) {
    const { continueExceeding, exponentialBackoff } = plugin as PluginOptions
    if (continueExceeding || exponentialBackoff) {
      throw new ConfigError(
        'this store does not punish requests over the limit: use a limiter with block in place of the plugin',
      )
    }
    this.#store = store
    this.#name = name
  }

  incr(key: string, callback: Callback, timeWindow: number): void {
    callBack(callback, () => this.#counter(timeWindow).hit(key))
  }

  read(key: string, callback: Callback, timeWindow: number): void {
    callBack(callback, () =>
      andThen(this.#counter(timeWindow).look(key), (hits) => hits ?? { hits: 0, endsInMs: 0 }),
    )
  }

  child(routeOptions: object): FastifyRateLimitStore {
    const { groupId, routeInfo } = routeOptions as PluginOptions
    const route = groupId === undefined ? `route/${routeInfo?.method} ${routeInfo?.url}` : `group/${groupId}`
    return new RouteStore(this.#store, `${this.#name}/${route}`, routeOptions)
  }

  #counter(timeWindow: number): HitCounter {
    const known = this.#counters.get(timeWindow)
    if (known !== undefined) return known
    const counter = hitCounter(this.#store, this.#name, timeWindow)
    if (this.#counters.size >= MAX_WINDOWS) this.#counters.clear()
    this.#counters.set(timeWindow, counter)
    return counter
  }
}

function callBack(callback: Callback, ask: () => Hits | Promise<Hits>): void {
  try {
    const answer = andThen(ask(), ({ hits, endsInMs }) =>
      callback(null, { current: hits, ttl: Math.ceil(endsInMs) }),
    )
    if (answer instanceof Promise) answer.catch(callback)
  } catch (error) {
    callback(error as Error)
  }
}
