import type { FetchFunction } from '../retry/retrying.ts'
import { answerParts } from './answer-parts.ts'
import { type CallParts, OutboundCall } from './outbound-call.ts'
import type { CallOptions } from './outbound-options.ts'
import { watchedBody } from './watched-body.ts'

/** What `fetch` takes, and what the limits are to know of this call. */
export interface LimitedInit extends RequestInit {
  readonly limits?: CallOptions
}

/** A call that `fetch` sends. */
export class FetchedCall extends OutboundCall {
  readonly resolve: (value: unknown) => void
  readonly #fetch: FetchFunction
  readonly #input: Parameters<FetchFunction>[0]
  readonly #init: LimitedInit | undefined

  constructor(
    parts: CallParts,
    fetch: FetchFunction,
    input: Parameters<FetchFunction>[0],
    init: LimitedInit | undefined,
    resolve: (value: unknown) => void,
  ) {
    super(parts)
    this.#fetch = fetch
    this.#input = input
    this.#init = init
    this.resolve = resolve
  }

  start(): void {
    const fetch = this.#fetch // called as a function: the platform's is not to have another `this`
    this.#follow(fetch(this.#input, this.#init))
  }

  async #follow(sent: Promise<Response>): Promise<void> {
    try {
      const answer = await sent
      this.answered(answer)
      this.resolve(this.#watched(answer))
    } catch (error) {
      this.lost(error)
      this.reject(error)
    }
  }

  #watched(answer: Response): Response {
    const { calls, request, route } = this
    if (answer.body === null || !calls.watches(this)) {
      this.ended()
      return answer
    }
    const { usage } = route.destination
    const parts = usage && answerParts(answer.headers.get('content-type'), usage(request!))
    return watchedBody(answer, {
      chunk: (bytes) => parts?.add(bytes),
      end: (complete) => this.ended(parts?.end(complete)),
    })
  }
}
