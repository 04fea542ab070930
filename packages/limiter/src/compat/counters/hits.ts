import { type Decision, receiptOf } from '../../core/decide/decision.ts'
import { chargedAt } from '../../core/decide/outcome.ts'
import { ConfigError } from '../../core/errors.ts'
import { checkOptions, objectOf, textCheck } from '../../core/options.ts'
import { createLimiter, type Limiter } from '../../limiter.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import { MemoryStore } from '../../stores/memory.ts'
import { type Store, storeCheck } from '../../stores/store.ts'

/** More than anyone has hits in a window: these libraries compare with the limit themselves. */
const MOST_HITS = 1_000_000_000
/**
 * Units of one hit. The first that is taken back leaves one unit, and so does each other that is taken back at the same
 * moment: the state then stays until the window ends, as these libraries expect, although it counts no hit.
 */
const UNITS = 1_000_000

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
  /** 0 in a window whose hits were all taken back. */
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
  /** `undefined` for a key without a window. */
  look(key: string): MaybePromise<Hits | undefined>
  /** Takes one hit back, if the window has any; the window stays. */
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
    policies: {
      hits: {
        algorithm: 'token-bucket',
        refill: 'interval',
        limit: MOST_HITS * UNITS,
        period: windowMs,
      },
    },
  })
  return {
    hit: (key) => andThen(limiter.check(keyText(key), { cost: UNITS }), hitsOf),
    look: (key) =>
      andThen(limiter.peek(keyText(key)), (decision) =>
        usedOf(decision) === 0 ? undefined : hitsOf(decision),
      ),
    takeBack: (key) =>
      andThen(limiter.peek(keyText(key)), (decision) => {
        const used = usedOf(decision)
        if (used < UNITS) return undefined
        const { steps, outcome } = receiptOf(decision)!
        const left = used % UNITS === 0 ? 1 : 0
        return store.settle([{ step: steps[0]!, at: chargedAt(outcome, 0), change: left - UNITS }])
      }),
    forget: (key) => limiter.reset(keyText(key)),
  }
}

/** Without the store, where nothing is known: as if this were the first hit. */
function usedOf({ limit, remaining }: Decision): number {
  return remaining === null ? UNITS : limit - remaining
}

function hitsOf(decision: Decision): Hits {
  return { hits: Math.floor(usedOf(decision) / UNITS), endsInMs: decision.resetAfterMs ?? 0 }
}
