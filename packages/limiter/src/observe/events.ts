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
      /** Of the request, as received: of any length and form. Absent where a limiter was asked by key. */
      readonly method?: string | undefined
      readonly path?: string | undefined
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
  /** A service that was asked over the network answered a call, of one question or many, after so many milliseconds. */
  | { readonly type: 'service-answered'; readonly ms: number }
  /** It failed, or (`late`) did not answer in time: `onError` decided. */
  | { readonly type: 'service-failed'; readonly error: unknown; readonly late?: true }
  /** A circuit breaker changed; of a store with shards, `shard` says which. */
  | { readonly type: 'breaker'; readonly state: BreakerState; readonly shard: number }
  /** A refusal was repeated without asking the store, or the service. */
  | { readonly type: 'repeated'; readonly policy: string }
  /** A request was granted from units taken ahead, without asking the store, or the service. */
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
  /** A call to others failed, with this status or without an answer: it is sent again after so many milliseconds. */
  | {
      readonly type: 'call-retried'
      readonly destination: string
      /** How often it was sent until now. */
      readonly tries: number
      readonly waitMs: number
      readonly status?: number | undefined
    }
  /** A call to others failed, and is not sent again: what came of its last try is what the caller gets. */
  | {
      readonly type: 'call-given-up'
      readonly destination: string
      readonly tries: number
      readonly reason: string
      readonly status?: number | undefined
    }
  /** A destination asked for a pause, so long: none of its key's calls are sent meanwhile. */
  | { readonly type: 'destination-paused'; readonly destination: string; readonly ms: number }
  /** So much of a limit (a share, up to 1) is used: once in a window, over all nodes of a store. */
  | { readonly type: 'budget-used'; readonly domain: string; readonly policy: string; readonly share: number }
  /** The rules were read again. With `refused` those in force stay, and `error` says why. */
  | { readonly type: 'reloaded'; readonly result: 'changed' | 'unchanged' }
  | { readonly type: 'reloaded'; readonly result: 'refused'; readonly error: Error }

export type EventType = Event['type']

/**
 * Is called with every event, at once; it must not throw, and should take little time. A plain function will do; what
 * it says of itself only spares calls.
 */
export interface Observer {
  (event: Event): void
  /** The types of event that it looks at: of others it may not hear. Default: all. */
  readonly types?: readonly EventType[]
  /** Whether it would look at an event of this type now: else the event need not be made. Default: yes. */
  readonly listens?: (type: EventType) => boolean
}

/**
 * An observer of some types alone.
 * @example
 * const limiter = createLimiter({ policies, observe: observerOf(['settled'], (event) => console.log(event)) })
 */
export function observerOf(types: readonly EventType[], observe: (event: Event) => void): Observer {
  return Object.assign((event: Event) => observe(event), { types })
}

/**
 * Several observers as one; more can be added at any time. Each is called with its types alone.
 * @example
 * const { observe, add } = everyObserver()
 * const limiter = createLimiter({ policies, observe })
 * add(({ type }) => console.log(type))
 */
export function everyObserver(...observers: Observer[]): {
  readonly observe: Observer
  add(...observers: Observer[]): void
} {
  const byType = byEventType<Observer[]>(() => [])
  const add = (...added: Observer[]): void => {
    for (const observer of added) {
      for (const type of observer.types ?? EVENT_TYPES) byType[type].push(observer)
    }
  }
  add(...observers)
  const each = (event: Event): void => {
    const all = byType[event.type]
    for (let i = 0; i < all.length; i++) all[i]!(event)
  }
  const listens = (type: EventType): boolean => {
    const all = byType[type]
    for (let i = 0; i < all.length; i++) if (isListening(all[i]!, type)) return true
    return false
  }
  return { observe: Object.assign(each, { listens }), add }
}

/** Whether an event of this type is worth making. */
export function isListening(observe: Observer, type: EventType): boolean {
  return observe.listens === undefined || observe.listens(type)
}

/** One value for each type of event. */
export function byEventType<T>(make: (type: EventType) => T): Readonly<Record<EventType, T>> {
  return Object.fromEntries(EVENT_TYPES.map((type) => [type, make(type)])) as Record<EventType, T>
}

const TYPES: Readonly<Record<EventType, true>> = {
  decided: true,
  'key-missing': true,
  reserved: true,
  settled: true,
  answered: true,
  'store-answered': true,
  'store-failed': true,
  'service-answered': true,
  'service-failed': true,
  breaker: true,
  repeated: true,
  prefetched: true,
  'call-waited': true,
  'call-refused': true,
  'call-retried': true,
  'call-given-up': true,
  'destination-paused': true,
  'budget-used': true,
  reloaded: true,
}
/** All there are. */
export const EVENT_TYPES: readonly EventType[] = /* @__PURE__ */ Object.keys(TYPES) as EventType[]
