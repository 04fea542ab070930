import { type Decision, receiptOf } from '../../core/decide/decision.ts'
import { chargedAt } from '../../core/decide/outcome.ts'
import { ConfigError } from '../../core/errors.ts'
import { checkOptions, objectOf, textCheck } from '../../core/options.ts'
import { createLimiter, type Limiter } from '../../limiter.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import { MemoryStore } from '../../stores/memory.ts'
import { type Store, storeCheck } from '../../stores/store.ts'

/** More than anyone has hits in a window: these libraries compare with the limit themselves. */
const NO_LIMIT = 1_000_000_000

export interface CompatOptions {
  /** Where counters live. Default: a MemoryStore of its own. */
  readonly store?: Store
  /** Keeps these counters apart from others in `store`; needed with one. */
  readonly name?: string
}

const OPTIONS = /* @__PURE__ */ objectOf<CompatOptions>({ store: storeCheck, name: textCheck })

/**
 * Where a store for another library keeps its counters. @throws ConfigError for a store without a name
 * @example
 * const { store, name } = counterPlaceOf(options, 'express-rate-limit')
 */
export function counterPlaceOf(options: CompatOptions, otherwise: string): { store: Store; name: string } {
  checkOptions(options, OPTIONS)
  const { store, name } = options
  if (store !== undefined && name === undefined) {
    throw new ConfigError('counters in a store need a name, to keep them apart from others')
  }
  return { store: store ?? new MemoryStore(), name: name ?? otherwise }
}

export interface Hits {
  readonly hits: number
  /** Milliseconds until the window ends; 0 where none is open. */
  readonly endsInMs: number
}

/** These libraries take numbers for keys, too: users' ids, say. */
export function keyText(key: string): string {
  return Number.isFinite(key) ? String(key) : key
}

/** Hits by key, in windows that open with a key's first hit. */
export interface HitCounter {
  hit(key: string): MaybePromise<Hits>
  look(key: string): MaybePromise<Hits>
  /** Takes one hit back, if the window has any. */
  takeBack(key: string): MaybePromise<unknown>
  forget(key: string): MaybePromise<void>
}

/**
 * Counts hits in a store.
 * @param windowMs milliseconds
 * @throws ConfigError for a window that cannot be kept
 * @example
 * const { hits, endsInMs } = await hitCounter(store, 'logins', 60_000).hit('ada')
 */
export function hitCounter(store: Store, name: string, windowMs: number): HitCounter {
  const limiter: Limiter<'hits', boolean> = createLimiter({
    name,
    store,
    policies: { hits: { algorithm: 'token-bucket', refill: 'interval', limit: NO_LIMIT, period: windowMs } },
  })
  const hitsOf = ({ limit, remaining, resetAfterMs }: Decision): Hits => ({
    hits: limit - remaining,
    endsInMs: resetAfterMs ?? 0,
  })
  return {
    hit: (key) => andThen(limiter.check(keyText(key)), hitsOf),
    look: (key) => andThen(limiter.peek(keyText(key)), hitsOf),
    takeBack: (key) =>
      andThen(limiter.peek(keyText(key)), (decision) => {
        const { steps, outcome } = receiptOf(decision)!
        return store.settle([{ step: steps[0]!, at: chargedAt(outcome, 0), change: -1 }])
      }),
    forget: (key) => limiter.reset(keyText(key)),
  }
}
