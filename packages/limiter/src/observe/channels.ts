import type { MaybePromise } from '../maybe-promise.ts'
import type { Store } from '../stores/store.ts'
import { byEventType, type Event, type Observer } from './events.ts'
import { type AroundCall, storeAround } from './store-around.ts'

/** A channel of `node:diagnostics_channel`, as far as it is used here. */
interface Channel {
  readonly hasSubscribers: boolean
  publish(message: object): void
}

/** As far as it is used here; how calls are published is Node's. */
interface TracingChannel {
  readonly hasSubscribers: boolean
  traceSync<T>(go: () => T, message: object): T
  tracePromise<T>(go: () => Promise<T>, message: object): Promise<T>
}

interface DiagnosticsChannel {
  channel(name: string): Channel
  tracingChannel(name: string): TracingChannel
}

/** What Node, and others that have its modules, can be asked for without an import. */
interface Builtin {
  readonly process?: { getBuiltinModule?(name: string): DiagnosticsChannel | undefined }
}

/** Nothing where the platform has no modules of Node's: an import would fail there. */
function diagnosticsChannel(): DiagnosticsChannel | undefined {
  return (globalThis as Builtin).process?.getBuiltinModule?.('node:diagnostics_channel')
}

const NONE: Channel = { hasSubscribers: false, publish: () => undefined }

/**
 * Publishes each event at the channel `sluice:TYPE` of `node:diagnostics_channel`, for whatever watches an application
 * without being part of it. While a channel has no subscriber, its events are not even made. Where the platform has no
 * such channels, it does nothing.
 * @example
 * const limiter = createLimiter({ policies, observe: diagnostics() })
 * subscribe('sluice:decided', ({ decision }) => console.log(decision.allowed)) // of node:diagnostics_channel
 */
export function diagnostics(): Observer {
  const platform = diagnosticsChannel()
  const channels = byEventType((type) => platform?.channel(`sluice:${type}`) ?? NONE)
  const publish = (event: Event): void => {
    const channel = channels[event.type]
    if (channel.hasSubscribers) channel.publish(event)
  }
  const listens: NonNullable<Observer['listens']> = (type) => channels[type].hasSubscribers
  return Object.assign(publish, { listens })
}

/** What the tracing channel of {@link tracedStore} carries; `result` or `error` come with the end of the call. */
export interface TracedCall {
  readonly call: Parameters<AroundCall<boolean>>[0]
  readonly result?: unknown
  readonly error?: unknown
}

/**
 * A store whose calls can be subscribed to by `tracingChannel('sluice:store')` of `node:diagnostics_channel`: their
 * start, their end, their failure. Meant for a store outside this process, below its FallbackStore. Without
 * subscribers the store is asked directly.
 * @param name of the tracing channel. Default `sluice:store`
 * @example
 * const store = new FallbackStore(tracedStore(new RedisStore({ client })))
 */
export function tracedStore<Async extends boolean>(store: Store<Async>, name = 'sluice:store'): Store<Async> {
  const channel = diagnosticsChannel()?.tracingChannel(name)
  if (channel === undefined) return store
  const around: AroundCall<Async> = <T>(call: TracedCall['call'], go: () => MaybePromise<T, Async>) => {
    if (!channel.hasSubscribers) return go()
    const traced = store.async
      ? channel.tracePromise(go as () => Promise<T>, { call })
      : channel.traceSync(go, { call })
    return traced as MaybePromise<T, Async>
  }
  return storeAround(store, around)
}
