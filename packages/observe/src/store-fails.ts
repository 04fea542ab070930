import { planOf } from '@sluice/limiter/algorithms'
import { ruleOf, type Step } from '@sluice/limiter/decide'
import type { BreakerState } from '@sluice/limiter/events'
import type { Store } from '@sluice/limiter/stores/store'

/** A store that is watched, and the breaker in front of it, where there is one. */
export interface WatchedStore {
  /** `undefined` where it is not known: limiters have their own. */
  readonly store: Store | undefined
  readonly fallback?: { readonly state: BreakerState } | undefined
}

/** A look at a counter that nothing ever charges. */
const PROBE: Step = {
  rule: ruleOf('ready', 'sluice/ready', planOf({ algorithm: 'fixed-window', limit: 1, period: 'second' })),
  key: '',
  cost: 0,
}
const PROBE_MS = 1_000
/** Failures after which a breaker opens, at most, for it to be opened by looking alone. */
const MOST_LOOKS = 20

/**
 * Whether the store fails, as its breaker says: what the gauge, the log and `/readyz` go by. It is looked at first, until
 * it answers or the breaker has opened, some times at most, so that the breaker knows where nobody else asks the store.
 * @example
 * await storeFails({ store, fallback })
 */
export async function storeFails({ store, fallback }: WatchedStore): Promise<boolean> {
  if (store === undefined) return fallback !== undefined && fallback.state !== 'closed'
  if (fallback === undefined) return !(await answers(store))
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    if ((await answers(store)) || fallback.state !== 'closed') break
  }
  return fallback.state !== 'closed'
}

/** Whether the store answers, within a second. */
async function answers(store: Store): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), PROBE_MS)
  })
  const look = async (): Promise<boolean> => (await store.decide([PROBE], true)).degraded !== true
  return Promise.race([look().catch(() => false), late]).finally(() => clearTimeout(timer))
}
