import { type Clock, clockCheck, monotonicClock } from '../clock.ts'
import { block, correct, run } from '../core/decide/run.ts'
import { checkOptions, type OptionFields, objectOf, wholeFrom } from '../core/options.ts'
import { MapStates } from './map/map-states.ts'
import type { Charge, Once, Outcome, StateName, Step, Store } from './store.ts'

export interface MapStoreOptions {
  /** Default: monotonic, anchored to the wall clock when the process began. */
  readonly clock?: Clock
  /** Most keys held at once, over all policies. Beyond it new keys share buckets; no key is evicted. Default 100,000. */
  readonly maxKeys?: number
}

/** What its options may be. */
const fields: OptionFields<MapStoreOptions> = { clock: clockCheck, maxKeys: wholeFrom(1, 10_000_000) }
const OPTIONS = /* @__PURE__ */ objectOf(fields)

/**
 * Keeps state in this process, in a Map: a tenth of MemoryStore's code, for a few thousand keys, at the edge or in a
 * browser. There is no timer: states that have expired are deleted by the decisions that follow.
 * @example
 * const store = new MapStore({ maxKeys: 10_000 })
 * const limiter = createLimiter({ store, policies: { api: { algorithm: gcra, limit: 10, period: '1s' } } })
 */
export class MapStore implements Store<false> {
  readonly async = false as const
  readonly #clock: Clock
  readonly #states: MapStates

  /** @throws ConfigError for invalid options */
  constructor(options: MapStoreOptions = {}) {
    checkOptions(options, OPTIONS)
    const { clock = monotonicClock(), maxKeys = 100_000 } = options
    this.#clock = clock
    this.#states = new MapStates(maxKeys)
  }

  /** Keys held now; some of them may be waiting to be deleted. */
  get size(): number {
    return this.#states.size
  }

  decide(steps: readonly Step[], peek: boolean): Outcome {
    const at = this.#clock.now()
    this.#states.sweep(at)
    return run(steps, this.#states, at, peek)
  }

  settle(charges: readonly Charge[], once?: Once): boolean {
    const at = this.#clock.now()
    this.#states.sweep(at)
    if (once !== undefined && !this.#states.spend(once, at)) return false
    correct(charges, this.#states, at)
    return true
  }

  reset(state: StateName): void {
    this.#states.reset(state)
  }

  block(state: StateName, ticks: number): void {
    block(state, ticks, this.#states, this.#clock.now())
  }

  close(): void {
    this.#states.clear()
  }
}
