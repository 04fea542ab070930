import type { HeaderSource } from '../answers/header-source.ts'
import { type AnswerParts, answerParts } from './answer-parts.ts'
import { type CallParts, OutboundCall } from './outbound-call.ts'
import type { CallOptions } from './outbound-options.ts'

/** What undici's dispatchers take, as far as it matters here. */
export interface DispatchOptions {
  readonly origin?: string | URL | undefined
  readonly path: string
  readonly method: string
  readonly headers?: unknown
  readonly body?: unknown
  readonly signal?: unknown
  readonly limits?: CallOptions
}

/** What hears of a request's answer. */
export interface DispatchHandler {
  onRequestStart?(controller: unknown, context: unknown): void
  onRequestUpgrade?(controller: unknown, statusCode: number, headers: object, socket: unknown): void
  onResponseStart?(controller: unknown, statusCode: number, headers: object, statusMessage?: string): void
  onResponseData?(controller: unknown, chunk: Uint8Array): void
  onResponseEnd?(controller: unknown, trailers: object): void
  onResponseError?(controller: unknown, error: Error): void
}

export type Dispatch = (options: DispatchOptions, handler: DispatchHandler) => boolean

/** A call that one of undici's dispatchers sends. */
export class DispatchedCall extends OutboundCall implements DispatchHandler {
  readonly #dispatch: Dispatch
  readonly #options: DispatchOptions
  readonly #handler: DispatchHandler
  #heard = false
  #parts: AnswerParts | undefined

  constructor(parts: CallParts, dispatch: Dispatch, options: DispatchOptions, handler: DispatchHandler) {
    super(parts)
    this.#dispatch = dispatch
    this.#options = options
    this.#handler = handler
  }

  start(): void {
    try {
      this.#dispatch(this.#options, this)
    } catch (error) {
      this.lost(error)
      this.reject(error)
    }
  }

  /** A `fallback` cannot answer here: it throws, and its error is what the caller gets. */
  resolve(): void {
    this.reject(new TypeError('a fallback cannot answer calls of undici: let it throw'))
  }

  override reject(error: unknown): void {
    this.#handler.onResponseError?.(null, error as Error)
  }

  onRequestStart(controller: unknown, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context)
  }

  onRequestUpgrade(controller: unknown, statusCode: number, headers: object, socket: unknown): void {
    this.#hear(statusCode, headers)
    this.ended()
    this.#handler.onRequestUpgrade?.(controller, statusCode, headers, socket)
  }

  onResponseStart(controller: unknown, statusCode: number, headers: object, statusMessage?: string): void {
    if (statusCode >= 200) this.#hear(statusCode, headers)
    this.#handler.onResponseStart?.(controller, statusCode, headers, statusMessage)
  }

  onResponseData(controller: unknown, chunk: Uint8Array): void {
    this.#parts?.add(chunk)
    this.#handler.onResponseData?.(controller, chunk)
  }

  onResponseEnd(controller: unknown, trailers: object): void {
    this.ended(this.#parts?.end(true))
    this.#handler.onResponseEnd?.(controller, trailers)
  }

  onResponseError(controller: unknown, error: Error): void {
    if (this.#heard) this.ended(this.#parts?.end(false))
    else this.lost(error)
    this.#handler.onResponseError?.(controller, error)
  }

  #hear(status: number, headers: object): void {
    if (this.#heard) return
    const fields = headers as Readonly<Record<string, string | undefined>>
    this.answered({ status, headers: fields as HeaderSource })
    this.#heard = true
    const { usage } = this.route.destination
    // What is compressed is not read: the estimate stands.
    if (usage !== undefined && fields['content-encoding'] === undefined)
      this.#parts = answerParts(fields['content-type'], usage(this.request!))
  }
}
