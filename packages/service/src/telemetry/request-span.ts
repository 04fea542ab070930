import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { storeAround } from '@sluice/limiter/diagnostics'
import { type Observer, observerOf } from '@sluice/limiter/events'
import type { Store } from '@sluice/limiter/stores/store'
import { decisionAttributes } from '@sluice/observe/opentelemetry'

/** The span of a request, while something is done for it. */
interface Current {
  readonly span: Span
  readonly context: Context
  decisions: number
}

/** What is done for requests that are recorded. For others there is no context, and so no cost. */
export class RequestSpans {
  readonly #tracer: Tracer
  readonly #current = new AsyncLocalStorage<Current>()

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  /** @param caller the context of who asks */
  start(
    name: string,
    attributes: Attributes,
    caller: Context,
  ): { readonly span: Span; readonly context: Context } {
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, caller)
    return { span, context: trace.setSpan(caller, span) }
  }

  /** Calls `go` as a part of the request of a span. */
  within<T>({ span, context }: { readonly span: Span; readonly context: Context }, go: () => T): T {
    return span.isRecording() ? this.#current.run({ span, context, decisions: 0 }, go) : go()
  }

  /** The first decision of a request is the span's; those that a batch has more are events on it. */
  readonly observe: Observer = observerOf(['decided'], (event) => {
    const current = event.type === 'decided' ? this.#current.getStore() : undefined
    if (event.type !== 'decided' || current === undefined) return
    const attributes = decisionAttributes(event.domain, event.decision)
    if (current.decisions++ === 0) current.span.setAttributes(attributes)
    else current.span.addEvent('sluice.decision', attributes)
  })

  watchStore<Async extends boolean>(store: Store<Async>): Store<Async> {
    return storeAround<Async>(store, (call, go) => {
      const current = this.#current.getStore()
      if (current === undefined) return go()
      const options = { kind: SpanKind.CLIENT, attributes: { 'sluice.store.call': call } }
      const span = this.#tracer.startSpan(`sluice.store ${call}`, options, current.context)
      const answer = go()
      if (answer instanceof Promise)
        answer.then(
          () => span.end(),
          (error) => failed(span, error),
        )
      else span.end()
      return answer
    })
  }
}

/** Its type alone: messages of drivers may hold keys. */
function failed(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}
