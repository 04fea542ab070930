import { AdaptiveThrottle } from './adaptive-throttle.ts'
import { RetryBudget } from './retry-budget.ts'
import type { RetrySettings } from './retry-options.ts'

/** What is known of one origin: its part of retries, and how much it refuses. */
export interface OriginState {
  readonly budget: RetryBudget | undefined
  readonly throttle: AdaptiveThrottle | undefined
}

/** Origins that are known at once; of more, the one that was called longest ago is forgotten. */
const MAX_ORIGINS = 1_000

/** The states of all origins. */
export class Origins {
  readonly #settings: RetrySettings
  readonly #states = new Map<string, OriginState>()
  #last: string | undefined

  constructor(settings: RetrySettings) {
    this.#settings = settings
  }

  of(origin: string): OriginState {
    const state = this.#states.get(origin) ?? this.#made()
    if (origin !== this.#last) {
      this.#last = origin
      this.#states.delete(origin)
      this.#states.set(origin, state)
      if (this.#states.size > MAX_ORIGINS) this.#states.delete(this.#states.keys().next().value!)
    }
    return state
  }

  #made(): OriginState {
    const { budget, throttle, random, clock } = this.#settings
    const now = clock.now() / 1_000
    return {
      budget: budget === false ? undefined : new RetryBudget(budget, now),
      throttle: throttle === false ? undefined : new AdaptiveThrottle(throttle, random, now),
    }
  }
}
