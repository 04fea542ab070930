import type { CostByName } from '@sluice/limiter'

/** A call as the options' functions see it. */
export interface OutboundRequest {
  readonly method: string
  readonly url: URL
  /** By any case; `undefined` where it is not sent. */
  header(name: string): string | undefined
  /** As it was given: text, bytes, a stream; `undefined` where there is none. */
  readonly body: unknown
}

/** Whole units, for all policies or by their names. */
export type OutboundCost = number | CostByName

/** What `new Headers` takes. */
export type HeadersGiven = ConstructorParameters<typeof Headers>[0]

/** A call, whose headers are only looked at where something asks for them. */
export class GivenRequest implements OutboundRequest {
  readonly method: string
  readonly url: URL
  readonly body: unknown
  readonly #given: HeadersGiven
  #headers: Headers | undefined

  constructor(method: string, url: URL, headers: HeadersGiven, body: unknown) {
    this.method = method
    this.url = url
    this.body = body
    this.#given = headers
  }

  get headers(): Headers {
    this.#headers ??= new Headers(this.#given)
    return this.#headers
  }

  header(name: string): string | undefined {
    return this.headers.get(name) ?? undefined
  }
}
