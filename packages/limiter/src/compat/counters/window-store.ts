import { ConfigError } from '../../core/errors.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import { type CompatOptions, counterPlaceOf, type HitCounter, type Hits, hitCounter } from './hits.ts'

/** What both libraries take where nobody gives a window. */
const DEFAULT_WINDOW_MS = 60_000

export interface WindowInfo {
  totalHits: number
  resetTime: Date
}

/**
 * The store contract that express-rate-limit and hono-rate-limiter share. Before `init` it counts in windows of a
 * minute, the default of both.
 * @example
 * const store = new WindowStore({}, 'express-rate-limit')
 * store.init({ windowMs: 60_000 })
 * const { totalHits, resetTime } = await store.increment('ada')
 */
export class WindowStore {
  /** Whether no other instance can meet the keys here. */
  readonly localKeys: boolean
  readonly prefix: string
  readonly #anew: () => ReturnType<typeof counterPlaceOf>
  #place: ReturnType<typeof counterPlaceOf>
  #windowMs = DEFAULT_WINDOW_MS
  #counter: HitCounter | undefined

  constructor(options: CompatOptions, otherwise: string) {
    this.#anew = () => counterPlaceOf(options, otherwise)
    this.#place = this.#anew()
    this.localKeys = options.store === undefined
    this.prefix = this.#place.name
  }

  /** Called by the library. @throws ConfigError for a window that cannot be kept */
  init({ windowMs }: { readonly windowMs: number }): void {
    this.#windowMs = windowMs
    this.#counter = undefined
    this.#counter = this.#hits // throws now rather than at the first request
  }

  /** `undefined` for a key without a window; no hits in one whose hits were taken back. */
  get(key: string): MaybePromise<WindowInfo | undefined> {
    return andThen(this.#hits.look(key), (hits) => hits && windowInfoOf(hits))
  }

  increment(key: string): MaybePromise<WindowInfo> {
    return andThen(this.#hits.hit(key), windowInfoOf)
  }

  decrement(key: string): MaybePromise<void> {
    return andThen(this.#hits.takeBack(key), () => undefined)
  }

  resetKey(key: string): MaybePromise<void> {
    return this.#hits.forget(key)
  }

  /** Forgets everybody. @throws ConfigError where the store was given: others may count there */
  resetAll(): void {
    if (!this.localKeys) throw new ConfigError('only counters in a store of their own can all be forgotten')
    this.#place = this.#anew()
    this.#counter = undefined
  }

  /** Made again at each use while the window is wrong: express-rate-limit only logs what `init` throws. */
  get #hits(): HitCounter {
    this.#counter ??= hitCounter(this.#place.store, this.#place.name, this.#windowMs)
    return this.#counter
  }
}

function windowInfoOf({ hits, endsInMs }: Hits): WindowInfo {
  return { totalHits: hits, resetTime: new Date(Date.now() + endsInMs) }
}
