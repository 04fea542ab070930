import { StoreError } from '../core/errors.ts'
import { startTimer } from '../flow/timers.ts'

interface WaitingPromise {
  readonly until: number
  readonly reject: (error: Error) => void
  done: boolean
}

/** What a promise comes to that takes too long. */
class LateError extends StoreError {}

/**
 * Whether this is what a deadline rejects with.
 * @example
 * await deadline.race(ask()).catch((error) => isLate(error))
 */
export function isLate(error: unknown): boolean {
  return error instanceof LateError
}

/**
 * Gives every promise the same time to settle. All share one timer: deadlines of one length fall due in the order
 * in which they began.
 * @example
 * const deadline = new Deadline(50, () => performance.now()) // milliseconds
 * const answer = await deadline.race(ask())
 */
export class Deadline {
  readonly #ms: number
  readonly #now: () => number
  readonly #what: string
  #queue: WaitingPromise[] = []
  #timing = false

  /**
   * @param now monotonic milliseconds
   * @param what is waited for, as the error names it
   */
  constructor(ms: number, now: () => number, what = 'the store') {
    this.#ms = ms
    this.#now = now
    this.#what = what
  }

  /** The promise's own outcome, or a LateError when that takes too long; what comes later is ignored. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: WaitingPromise = { until: this.#now() + this.#ms, reject, done: false }
      this.#queue.push(waiting)
      if (!this.#timing) this.#wake(this.#ms)
      promise.then(
        (value) => {
          waiting.done = true
          resolve(value)
        },
        (error) => {
          waiting.done = true
          reject(error)
        },
      )
    })
  }

  #wake(ms: number): void {
    this.#timing = true
    startTimer(() => this.#expire(), ms, { unref: true })
  }

  #expire(): void {
    const now = this.#now()
    const due = this.#queue.findIndex(({ until, done }) => !done && until > now)
    const over = due < 0 ? this.#queue : this.#queue.slice(0, due)
    this.#queue = due < 0 ? [] : this.#queue.slice(due)
    // A process that was held up finds its timers due before it has read its sockets: the answers may lie there.
    startTimer(() => this.#reject(over), 0)
    if (this.#queue.length === 0) this.#timing = false
    else this.#wake(this.#queue[0]!.until - now)
  }

  #reject(over: readonly WaitingPromise[]): void {
    for (const { done, reject } of over) {
      if (!done) reject(new LateError(`${this.#what} did not answer within ${this.#ms} ms`))
    }
  }
}
