import type { AnswerLimits } from '../answers/answer-limits.ts'
import { readAnswerLimits } from '../answers/answer-reader.ts'
import { Backoff } from './backoff.ts'
import { discard } from './discard.ts'
import type { GivenUpReason } from './given-up-reason.ts'
import { type OriginState, Origins } from './origins.ts'
import { Pauses } from './pauses.ts'
import type { RetrySettings } from './retry-options.ts'
import { Throttled } from './throttled.ts'

/** A call that may be sent more than once. */
export interface RetriedCall {
  /** Its budget, and whether it may be sent at all, are those of its origin. */
  readonly origin: string
  /** Calls of one key are paused together. */
  key(): string
  readonly repeatable: boolean
  readonly signal: AbortSignal | undefined
  send(): Promise<Response>
}

/** What came of a try that failed: an answer and what it says, or an error. */
interface FailedTry {
  readonly response?: Response
  readonly error?: unknown
  readonly said?: AnswerLimits | undefined
}

/** How a server says whether to try again, whatever the status (OpenAI, Anthropic; Stripe). */
const SHOULD_RETRY = ['x-should-retry', 'stripe-should-retry']

/** Sends calls, and sends them again. */
export class Retries {
  readonly #settings: RetrySettings
  readonly #pauses: Pauses
  readonly #origins: Origins

  constructor(settings: RetrySettings) {
    this.#settings = settings
    this.#pauses = new Pauses(settings)
    this.#origins = new Origins(settings)
  }

  /**
   * @returns the last answer, whatever its status
   * @throws Throttled, the last error of `send`, or the signal's reason (rejects)
   */
  async run(call: RetriedCall): Promise<Response> {
    const { random, backoff, maxWaitMs, observe } = this.#settings
    const { origin, signal } = call
    const state = this.#origins.of(origin)
    if (this.#pauses.any) await this.#pass(call)
    if (state.throttle?.admit(this.#now()) === false)
      throw this.#notSent(origin, new Throttled({ reason: 'overload' }))
    let waits: Backoff | undefined
    for (let tries = 1; ; tries++) {
      const outcome = await this.#send(call, state)
      if (outcome.failure === undefined) return outcome.response
      const { failure } = outcome
      waits ??= new Backoff(backoff, random)
      const waitMs = Math.min(maxWaitMs, waits.next(failure.said?.retryAfterMs))
      if (failure.said !== undefined) this.#pause(call, failure.said, waitMs)
      const reason = this.#obstacle(call, state, failure, tries)
      if (reason !== undefined) return this.#giveUp(origin, failure, tries, reason)
      observe?.({ type: 'call-retried', destination: origin, tries, waitMs, ...statusOf(failure) })
      await this.#pauses.wait(waitMs, signal).finally(failure.response && discard(failure.response))
      await this.#pass(call)
    }
  }

  /** Sends a call once. Errors other than those of the network are the caller's. */
  async #send(
    call: RetriedCall,
    { throttle, budget }: OriginState,
  ): Promise<{ response: Response; failure?: undefined } | { failure: FailedTry }> {
    const sentMs = this.#now()
    let response: Response
    try {
      response = await call.send()
    } catch (error) {
      const lost = !call.signal?.aborted && isNamed(error, 'TypeError')
      throttle?.note(sentMs, lost || isNamed(error, 'TimeoutError') ? false : undefined, this.#now())
      if (!lost) throw error
      return { failure: { error } }
    }
    const { statuses, dialects } = this.#settings
    const now = this.#now()
    const said = response.status < 300 ? undefined : readAnswerLimits(response, { now, dialects })
    const failed = statuses.has(response.status) || said?.refused === true || shouldRetry(response) === true
    throttle?.note(sentMs, !failed, now)
    if (failed) return { failure: { response, said } }
    budget?.succeed()
    return { response }
  }

  /** A refusal without a hint pauses its key for as long as this call waits. */
  #pause(call: RetriedCall, { retryAfterMs, refused }: AnswerLimits, waitMs: number): void {
    const ms = retryAfterMs ?? (refused ? waitMs : 0)
    if (ms <= 0) return
    this.#pauses.pause(call.key(), ms)
    this.#settings.observe?.({ type: 'destination-paused', destination: call.origin, ms })
  }

  /** Why a failed call is not sent again; undefined where it is. What it takes of the budget is then taken. */
  #obstacle(
    { repeatable }: RetriedCall,
    { budget, throttle }: OriginState,
    { response, said }: FailedTry,
    tries: number,
  ): GivenUpReason | undefined {
    const { maxWaitMs } = this.#settings
    if ((said?.retryAfterMs ?? 0) > maxWaitMs) return 'wait'
    if (!repeatable) return 'call'
    if (response !== undefined && shouldRetry(response) === false) return 'server'
    if (tries >= this.#settings.tries) return 'tries'
    if (this.#pauses.full) return 'full'
    const now = this.#now()
    if (budget?.take(now) === false) return 'budget'
    return throttle?.admit(now) === false ? 'overload' : undefined
  }

  #giveUp(origin: string, failure: FailedTry, tries: number, reason: GivenUpReason): Response {
    this.#settings.observe?.({
      type: 'call-given-up',
      destination: origin,
      tries,
      reason,
      ...statusOf(failure),
    })
    const { response, error, said } = failure
    if (response === undefined) throw error
    if (reason === 'wait') throw new Throttled({ reason, retryAfterMs: said!.retryAfterMs, response })
    return response
  }

  async #pass(call: RetriedCall): Promise<void> {
    const { maxWaitMs } = this.#settings
    try {
      await this.#pauses.pass(call.key(), { maxWaitMs, signal: call.signal })
    } catch (error) {
      throw error instanceof Throttled ? this.#notSent(call.origin, error) : error
    }
  }

  #notSent(origin: string, error: Throttled): Throttled {
    const { reason, retryAfterMs } = error
    this.#settings.observe?.({ type: 'call-refused', destination: origin, reason, retryAfterMs })
    return error
  }

  #now(): number {
    return this.#settings.clock.now() / 1_000
  }
}

/** `fetch` rejects with a TypeError where no answer came; signals have a TimeoutError where they are of a time. */
function isNamed(error: unknown, name: string): boolean {
  return (error as Error | undefined)?.name === name
}

function shouldRetry({ headers }: Response): boolean | undefined {
  const text = SHOULD_RETRY.map((name) => headers.get(name)).find((value) => value !== null)
  return text === 'true' ? true : text === 'false' ? false : undefined
}

function statusOf({ response }: FailedTry): { readonly status?: number } {
  return response === undefined ? {} : { status: response.status }
}
