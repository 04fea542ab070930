import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { type Decision, receiptOf } from '@sluice/limiter/decide'
import { storeAround } from '@sluice/limiter/diagnostics'
import { type Observer, observerOf } from '@sluice/limiter/events'
import type { StateName, Store } from '@sluice/limiter/stores/store'
import { decisionAttributes } from '@sluice/observe/opentelemetry'
import type { RequestSampler } from './sampler.ts'

/** Another one is none, and the request begins a trace. */
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(?:-|$)/

/** A request that is recorded. */
export interface RecordedRequest {
  readonly span: Span
  readonly context: Context
  decisions: number
}

/** A request that may become a span. */
export interface ArrivedRequest<Carrier> {
  /** Of the caller, if it sent one. */
  readonly traceparent: string | undefined
  /** What it sent beside, and how that is read. */
  readonly carrier: Carrier
  readonly getter: TextMapGetter<Carrier>
  /** Is asked where it is recorded: its name, its attributes, and milliseconds since it arrived. */
  readonly named: () => readonly [name: string, attributes: Attributes, sinceMs: number]
}

/** Runs a function as a part of one request. */
export type Within = <T>(go: () => T) => T

export const within: Within = (go) => go()

/**
 * The spans of requests, and what is done for them. Which request is served is known while a function of it runs, and
 * for its decision by the steps of it: AsyncLocalStorage would slow every promise of the process on Node 20 and 22, for
 * requests that are not recorded too.
 */
export class RequestSpans {
  readonly #tracer: Tracer
  readonly #sampler: RequestSampler
  readonly #propagator: W3CTraceContextPropagator | undefined
  #current: RecordedRequest | undefined
  #open = 0
  /** By the first step of what they ask. */
  readonly #asking = new WeakMap<StateName, RecordedRequest>()

  /** @param propagates whether traces of callers are continued */
  constructor(tracer: Tracer, sampler: RequestSampler, propagates: boolean) {
    this.#tracer = tracer
    this.#sampler = sampler
    this.#propagator = propagates ? new W3CTraceContextPropagator() : undefined
  }

  /** Begins the span of a request; undefined where it is not recorded. */
  start<Carrier>(arrived: ArrivedRequest<Carrier>): RecordedRequest | undefined {
    const { traceparent } = arrived
    const continued = this.#propagator !== undefined && TRACEPARENT.test(traceparent ?? '')
    const theirs = continued ? traceparent : undefined
    if (!this.#sampler.mayRecord(theirs)) return undefined
    const caller = continued
      ? this.#propagator!.extract(ROOT_CONTEXT, arrived.carrier, arrived.getter)
      : ROOT_CONTEXT
    const [name, attributes, sinceMs] = arrived.named()
    const startTime = Date.now() - sinceMs
    const options = { kind: SpanKind.SERVER, attributes, startTime }
    const span = this.#tracer.startSpan(name, options, this.#sampler.chosen(caller, continued))
    if (!span.isRecording()) return undefined
    this.#open++
    return { span, context: trace.setSpan(caller, span), decisions: 0 }
  }

  /** @param fault what kind of failure of the service it ended in */
  end({ span }: RecordedRequest, attributes: Attributes, fault?: string): void {
    span.setAttributes(attributes)
    if (fault !== undefined) failed(span, fault)
    span.end()
    this.#open--
  }

  /** Runs what a request begins with: until it first waits. */
  within<T>(request: RecordedRequest, go: () => T): T {
    const before = this.#current
    this.#current = request
    try {
      return go()
    } finally {
      this.#current = before
    }
  }

  /** Keeps the present request for what it does after it has waited. */
  carry(): Within {
    const request = this.#current
    return request === undefined ? within : (go) => this.within(request, go)
  }

  /** The first decision of a request is the span's; those that a batch has more are events on it. */
  readonly observe: Observer = observerOf(['decided'], (event) => {
    if (this.#open === 0 || event.type !== 'decided') return
    const request = this.#requestOf(event.decision)
    if (request === undefined) return
    const attributes = decisionAttributes(event.domain, event.decision)
    if (request.decisions++ === 0) request.span.setAttributes(attributes)
    else request.span.addEvent('sluice.decision', attributes)
  })

  /** Notes which request asks: its decision is made after a wait. */
  watchDecisions<Async extends boolean>(store: Store<Async>): Store<Async> {
    return {
      ...storeAround<Async>(store, (_call, go) => go()),
      decide: (steps, peek) => {
        const [first] = steps
        if (this.#current !== undefined && first !== undefined) this.#asking.set(first, this.#current)
        return store.decide(steps, peek)
      },
    }
  }

  /** Makes calls of a store spans. */
  watchStore<Async extends boolean>(store: Store<Async>): Store<Async> {
    return storeAround<Async>(store, (call, go, about) => {
      const request = this.#current ?? (about && this.#asking.get(about))
      if (request === undefined) return go()
      const options = { kind: SpanKind.CLIENT, attributes: { 'sluice.store.call': call } }
      const span = this.#tracer.startSpan(`sluice.store ${call}`, options, request.context)
      const answer = go()
      if (answer instanceof Promise)
        answer.then(
          () => span.end(),
          (error) => failed(span, typeOf(error)).end(),
        )
      else span.end()
      return answer
    })
  }

  #requestOf(decision: Decision): RecordedRequest | undefined {
    const first = receiptOf(decision)?.steps[0]
    return (first && this.#asking.get(first)) ?? this.#current
  }
}

function failed(span: Span, type: string): Span {
  return span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
}

/** Not what it says: messages of drivers may hold keys. */
function typeOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error
}
