import type { Decision } from '../core/decide/decision.ts'

/** The state of a circuit breaker: `open` while the store is not asked, `probing` while one request finds out. */
export type BreakerState = 'closed' | 'open' | 'probing'

/**
 * Who asked: a service was, by a proxy in front of an application (`edge`) or by an application (`service`); or an
 * application asked itself, by its middleware (`app`).
 */
export type AnsweredLayer = 'edge' | 'service' | 'app'

/** All that happens. Whatever observes subscribes to this one union, and hears of nothing in another way. */
export type Event =
  /** A request was decided. The rules behind `decision.policies` are those of its receipt's steps. */
  | {
      readonly type: 'decided'
      readonly domain: string
      readonly decision: Decision
      /** Only looked: nothing was charged. */
      readonly peek: boolean
    }
  /** A rule was skipped because the request lacks a part of its key. */
  | { readonly type: 'key-missing'; readonly domain: string; readonly policy: string }
  /** An estimate was charged, to be settled later. It was also decided. */
  | { readonly type: 'reserved'; readonly domain: string; readonly decision: Decision }
  /** A charge was corrected; `settled` is false where it had been before, or could no longer be. */
  | { readonly type: 'settled'; readonly domain: string; readonly settled: boolean }
  /** A service or a middleware answered a request, after so many milliseconds, the store's included. */
  | { readonly type: 'answered'; readonly domain: string; readonly ms: number; readonly layer: AnsweredLayer }
  /** A shared store answered, after so many milliseconds. */
  | { readonly type: 'store-answered'; readonly ms: number }
  /** A shared store failed, or (`late`) did not answer in time. */
  | { readonly type: 'store-failed'; readonly error: unknown; readonly late?: true }
  /** A circuit breaker changed; of a store with shards, `shard` says which. */
  | { readonly type: 'breaker'; readonly state: BreakerState; readonly shard: number }
  /** A refusal was repeated without asking the store. */
  | { readonly type: 'repeated'; readonly policy: string }
  /** A request was granted from units taken ahead, without asking the store. */
  | { readonly type: 'prefetched'; readonly policy: string; readonly cost: number }
  /** The rules were read again. With `refused` those in force stay, and `error` says why. */
  | { readonly type: 'reloaded'; readonly result: 'changed' | 'unchanged' }
  | { readonly type: 'reloaded'; readonly result: 'refused'; readonly error: Error }

/** Is called with every event, at once; it must not throw, and should take little time. */
export type Observer = (event: Event) => void

/**
 * Several observers as one; more can be added at any time.
 * @example
 * const { observe, add } = everyObserver()
 * const limiter = createLimiter({ policies, observe })
 * add(({ type }) => console.log(type))
 */
export function everyObserver(): { readonly observe: Observer; add(...observers: Observer[]): void } {
  const all: Observer[] = []
  return {
    observe(event) {
      for (let i = 0; i < all.length; i++) all[i]!(event)
    },
    add: (...observers) => void all.push(...observers),
  }
}
