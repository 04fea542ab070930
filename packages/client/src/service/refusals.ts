import type { AnswerBody } from '@sluice/limiter/wire'
import { laterAnswer } from './service-answer.ts'

export interface RefusalsOptions {
  /** Most refusals remembered at once; 0: none. Default 10,000. */
  readonly maxEntries?: number
  /** Milliseconds after which the service is asked again, however long the wait: so late at most is a reset noticed. Default 1,000. */
  readonly maxAgeMs?: number
}

interface RememberedRefusal {
  readonly answer: AnswerBody
  /** Monotonic milliseconds: from when it is not repeated, and when the answer was in. */
  readonly until: number
  readonly answered: number
}

/**
 * Refusals that the service said may be repeated (`repeatableMs`), until they can end. That time counts from before the
 * service was asked; waits count from when it had answered, so that they are never too short.
 */
export class Refusals {
  readonly #max: number
  readonly #maxAge: number
  readonly #now: () => number
  readonly #refusals = new Map<string, RememberedRefusal>()

  /** @param now monotonic milliseconds */
  constructor({ maxEntries = 10_000, maxAgeMs = 1_000 }: RefusalsOptions, now: () => number) {
    this.#max = maxEntries
    this.#maxAge = maxAgeMs
    this.#now = now
  }

  /** @param question its text, cost included */
  find(question: string): AnswerBody | undefined {
    const known = this.#refusals.get(question)
    if (known === undefined) return undefined
    const now = this.#now()
    if (now < known.until) return laterAnswer(known.answer, now - known.answered)
    this.#refusals.delete(question)
    return undefined
  }

  /** @param asked monotonic milliseconds, before the question was sent */
  remember(question: string, answer: AnswerBody, asked: number): void {
    const { repeatableMs } = answer
    if (repeatableMs === undefined || this.#max === 0) return
    const until = asked + Math.min(repeatableMs, this.#maxAge)
    this.#refusals.delete(question)
    // Forgetting a refusal only costs a question: the oldest, which stands first, makes room.
    if (this.#refusals.size >= this.#max) this.#refusals.delete(this.#refusals.keys().next().value!)
    this.#refusals.set(question, { answer, until, answered: this.#now() })
  }

  /** What was given back may have ended any of them. */
  clear(): void {
    this.#refusals.clear()
  }
}
