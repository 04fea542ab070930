import { ConfigError } from '../core/errors.ts'
import { andThen } from '../maybe-promise.ts'
import type { Store } from '../stores/store.ts'
import { type CompatOptions, type HitCounter, type Hits, hitCounter, placeOf } from './hits.ts'

type Told = (error: Error | null, result?: { current: number; ttl: number }) => void

/** What @fastify/rate-limit tells a store of the plugin's, or a route's, options. */
interface PluginOptions {
  readonly continueExceeding?: boolean
  readonly exponentialBackoff?: boolean
  readonly groupId?: string
  readonly routeInfo?: { readonly method?: string | readonly string[]; readonly url?: string }
}

/** The store contract of @fastify/rate-limit. */
export interface FastifyRateLimitStore {
  incr(key: string, told: Told, timeWindow: number, max?: number): void
  read(key: string, told: Told, timeWindow: number, max?: number): void
  child(routeOptions: PluginOptions): FastifyRateLimitStore
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
  plugin: PluginOptions,
) => FastifyRateLimitStore {
  const { store, name } = placeOf(options, 'fastify-rate-limit')
  return class extends RouteStore {
    constructor(plugin: PluginOptions) {
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

  constructor(store: Store, name: string, { continueExceeding, exponentialBackoff }: PluginOptions) {
    if (continueExceeding || exponentialBackoff) {
      throw new ConfigError(
        'this store punishes nobody for asking: use a limiter with block in place of the plugin',
      )
    }
    this.#store = store
    this.#name = name
  }

  incr(key: string, told: Told, timeWindow: number): void {
    tell(told, () => this.#counter(timeWindow).hit(key))
  }

  read(key: string, told: Told, timeWindow: number): void {
    tell(told, () => this.#counter(timeWindow).look(key))
  }

  child(routeOptions: PluginOptions): FastifyRateLimitStore {
    const { groupId, routeInfo } = routeOptions
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

function tell(told: Told, ask: () => Hits | Promise<Hits>): void {
  try {
    const answer = andThen(ask(), ({ hits, endsInMs }) =>
      told(null, { current: hits, ttl: Math.ceil(endsInMs) }),
    )
    if (answer instanceof Promise) answer.catch(told)
  } catch (error) {
    told(error as Error)
  }
}
