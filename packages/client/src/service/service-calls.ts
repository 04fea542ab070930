import type { Observer } from '@sluice/limiter/events'
import { Breaker, type BreakerOptions } from '@sluice/limiter/stores/breaker'
import { Deadline, isLate } from '@sluice/limiter/stores/deadline'
import { readProblem } from '@sluice/limiter/wire'
import type { FetchFunction } from '../retry/retrying.ts'
import { bodyText } from './body-text.ts'
import { errorOfProblem, ProblemError, ServiceError } from './service-errors.ts'

export interface ServiceCallsOptions {
  /** Where the service answers, with or without a path before its own; no slash at the end. */
  readonly base: string
  readonly fetch: FetchFunction
  /** Sent as `Authorization: Bearer`. */
  readonly token: string | undefined
  readonly deadlineMs: number
  readonly breaker: BreakerOptions
  readonly observe: Observer
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * Calls of the service, each once and within the deadline, while the breaker admits them. Nothing is ever asked twice:
 * a call that was late may have charged.
 */
export class ServiceCalls {
  readonly #options: ServiceCallsOptions
  readonly #headers: Readonly<Record<string, string>>
  readonly #breaker: Breaker
  readonly #deadline: Deadline

  constructor(options: ServiceCallsOptions) {
    const { token, deadlineMs, breaker, observe, now } = options
    this.#options = options
    this.#headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    this.#breaker = new Breaker(breaker, now, (state) => observe({ type: 'breaker', state, shard: 0 }))
    this.#deadline = new Deadline(deadlineMs, now, 'the service')
  }

  /** Milliseconds until the service is asked again, at least 1. */
  get retryInMs(): number {
    return Math.max(1, Math.ceil(this.#breaker.retryInMs))
  }

  /**
   * One call, and its answer as `read` reads it.
   * @throws ServiceError, or ProblemError for what the service cannot take
   */
  async post<T>(path: string, body: string, read: (status: number, value: unknown) => T): Promise<T> {
    if (!this.#breaker.admits) throw new ServiceError('the service is not asked while it keeps failing')
    const { observe, now } = this.#options
    this.#breaker.asked()
    const began = now()
    const leaving = new AbortController()
    const answered = (): void => {
      this.#breaker.succeeded()
      observe({ type: 'service-answered', ms: now() - began })
    }
    try {
      const answer = await this.#deadline.race(this.#send(path, body, read, leaving.signal))
      answered()
      return answer
    } catch (cause) {
      leaving.abort()
      if (cause instanceof ProblemError) {
        answered()
        throw cause
      }
      const error = serviceErrorOf(cause)
      // The reason first, so that whoever hears that the service is not asked any more knows why.
      observe({ type: 'service-failed', error, ...(error.late && { late: true }) })
      this.#breaker.failed()
      throw error
    }
  }

  /** What takes longer than the deadline, waits before the call included, rejects with a ServiceError. */
  async within<T>(promise: Promise<T>): Promise<T> {
    try {
      return await this.#deadline.race(promise)
    } catch (error) {
      throw isLate(error) ? serviceErrorOf(error) : error
    }
  }

  async #send<T>(
    path: string,
    body: string,
    read: (status: number, value: unknown) => T,
    signal: AbortSignal,
  ): Promise<T> {
    const { base, fetch } = this.#options
    // A redirect would send the token, and the question, to somebody else.
    const response = await fetch(`${base}${path}`, {
      method: 'POST',
      headers: this.#headers,
      body,
      signal,
      redirect: 'manual',
    })
    const { status } = response
    const text = await bodyText(response)
    if (status === 204) return read(status, undefined)
    if (status === 200) return read(status, JSON.parse(text))
    if (!response.headers.get('content-type')?.startsWith('application/problem+json'))
      throw new ServiceError(`the service answered with status ${status}`)
    throw errorOfProblem(readProblem(JSON.parse(text)))
  }
}

function serviceErrorOf(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause
  const late = isLate(cause)
  return new ServiceError(late ? (cause as Error).message : 'the service failed', { cause, late })
}
