import { type Decision, receiptOf } from '../core/decide/decision.ts'
import { ConfigError } from '../core/errors.ts'
import { createLimiter, type Limiter } from '../limiter.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import { MemoryStore } from '../stores/memory.ts'
import type { Store } from '../stores/store.ts'

/** More than anyone has hits in a window: these libraries compare with the limit themselves. */
const NO_LIMIT = 1_000_000_000

export interface CompatOptions {
  /** Where counters live. Default: a MemoryStore of its own. */
  readonly store?: Store
  /** Keeps these counters apart from others in `store`; needed with one. */
  readonly name?: string
}

/** Where a store for another library keeps its counters. @throws ConfigError for a store without a name */
export function counterPlaceOf(
  { store, name }: CompatOptions,
  otherwise: string,
): { store: Store; name: string } {
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

/**
 * Checks in windows that open with a key's first hit. A store in process may keep the beat of windows long over: it
 * is made to forget it. One that is shared forgets by itself.
 */
export function checkIn(
  windowMs: number,
  limiter: Limiter<string, boolean>,
  key: string,
): MaybePromise<Decision> {
  const decision = limiter.check(keyText(key))
  if (decision instanceof Promise) return decision
  const { allowed, limit, remaining, resetAfterMs } = decision
  if (!allowed || limit - remaining !== 1 || resetAfterMs === windowMs) return decision
  limiter.reset(keyText(key))
  return limiter.check(keyText(key))
}

/** These libraries take numbers for keys, too: users' ids, say. */
function keyText(key: string): string {
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

/** @param windowMs milliseconds. @throws ConfigError for a window that cannot be kept */
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
    hit: (key) => andThen(checkIn(windowMs, limiter, key), hitsOf),
    look: (key) => andThen(limiter.peek(keyText(key)), hitsOf),
    takeBack: (key) =>
      andThen(limiter.peek(keyText(key)), (decision) => {
        const { steps, outcome } = receiptOf(decision)!
        return store.settle([{ step: steps[0]!, at: outcome.at, change: -1 }])
      }),
    forget: (key) => limiter.reset(keyText(key)),
  }
}
