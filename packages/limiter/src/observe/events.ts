import type { Decision } from '../core/decide/decision.ts'

/** The state of a circuit breaker: `open` while the store is not asked, `probing` while one request finds out. */
export type BreakerState = 'closed' | 'open' | 'probing'

/** Who asked a service: a proxy in front of an application (`edge`), or an application itself (`service`). */
export type AnsweredLayer = 'edge' | 'service'

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
  /** A service answered a request, after so many milliseconds, the store's included. */
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
  /** A call to others has waited for its turn, so long. */
  | { readonly type: 'call-waited'; readonly destination: string; readonly ms: number }
  /** A call was not sent; `retryAfterMs` is absent where no wait helps. */
  | {
      readonly type: 'call-refused'
      readonly destination: string
      readonly reason: string
      readonly retryAfterMs?: number | undefined
    }
  /** A destination asked for a pause, so long: none of its key's calls are sent meanwhile. */
  | { readonly type: 'destination-paused'; readonly destination: string; readonly ms: number }
  /** So much of a limit (a share, up to 1) is used: once in a window, over all nodes of a store. */
  | { readonly type: 'budget-used'; readonly domain: string; readonly policy: string; readonly share: number }
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
