import type { Metadata } from '@grpc/grpc-js'
import type { Observer } from '@sluice/limiter/events'
import type { Store } from '@sluice/limiter/stores/store'
import type { Registry } from 'prom-client'
import type { App, Log } from '../app.ts'

/**
 * Sends spans and metrics of one service elsewhere. The service knows no more of it than this, so that nothing of it is
 * loaded where it is off; `openTelemetry` of `@sluice/service/opentelemetry` makes one.
 */
export interface Telemetry {
  /** Puts decisions on the span of the request. */
  readonly observe: Observer
  /** Makes each request a span; called before the app has routes. */
  watchHttp(app: App): void
  /** Makes a call of gRPC a span. @param method its full name, `package.Service/Method` */
  watchCall<T>(method: string, metadata: Metadata, answer: () => Promise<T>): Promise<T>
  /** Notes for which request a store outside this process is asked. */
  watchDecisions<Async extends boolean>(store: Store<Async>): Store<Async>
  /** Makes calls of a store outside this process spans, below that of the request. */
  watchStore<Async extends boolean>(store: Store<Async>): Store<Async>
  /** Keeps the request that is served now, for what it does after it has waited. */
  carry(): <T>(go: () => T) => T
  /** Begins to send. @param registry the metrics of the service */
  start(registry: Registry, log: Log): void
  /** Sends what is left, for two seconds at most. */
  stop(): Promise<void>
}
