import { type AnswerBody, type ProblemBody, readBatchAnswer } from '@sluice/limiter/wire'
import type { ServiceCalls } from './service-calls.ts'
import { errorOfProblem, ServiceError } from './service-errors.ts'

export interface BatchBounds {
  /** AskedQuestions in one call. */
  readonly maxBatch: number
  /** Calls at once. */
  readonly maxInFlight: number
  /** AskedQuestions that wait for a call. */
  readonly maxWaiting: number
}

interface WaitingQuestion {
  readonly text: string
  /** Whether whoever asked still waits for the answer. */
  readonly wanted: () => boolean
  resolve(answer: AnswerBody): void
  reject(error: unknown): void
}

/** Characters of one call: at most three bytes each, so that 4 MiB, the service's bound on a batch, hold them. */
const MOST_CHARACTERS = 1_000_000

/** AskedQuestions of one tick travel as one call; while as many calls are under way as may be, those that come meanwhile as one. */
export class AskedQuestions {
  readonly #calls: ServiceCalls
  readonly #path: string
  readonly #bounds: BatchBounds
  #waiting: WaitingQuestion[] = []
  #inFlight = 0
  #scheduled = false

  constructor(calls: ServiceCalls, path: string, bounds: BatchBounds) {
    this.#calls = calls
    this.#path = path
    this.#bounds = bounds
  }

  /**
   * @param text the question as JSON
   * @param wanted a question that is no longer wanted is not sent
   * @throws ServiceError, or ProblemError
   */
  ask(text: string, wanted: () => boolean): Promise<AnswerBody> {
    const { maxWaiting } = this.#bounds
    if (this.#waiting.length >= maxWaiting)
      return Promise.reject(new ServiceError(`${maxWaiting} questions wait already`))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, wanted, resolve, reject })
      if (this.#scheduled) return
      this.#scheduled = true
      queueMicrotask(() => {
        this.#scheduled = false
        this.#send()
      })
    })
  }

  #send(): void {
    while (this.#inFlight < this.#bounds.maxInFlight) {
      const batch = this.#take()
      if (batch.length === 0) return
      this.#inFlight++
      void this.#call(batch).finally(() => {
        this.#inFlight--
        this.#send()
      })
    }
  }

  /** The first that are still wanted, as many as one call may have. */
  #take(): WaitingQuestion[] {
    const batch: WaitingQuestion[] = []
    let characters = 0
    let taken = 0
    for (const question of this.#waiting) {
      if (question.wanted()) {
        characters += question.text.length
        if (batch.length === this.#bounds.maxBatch || (batch.length > 0 && characters > MOST_CHARACTERS))
          break
        batch.push(question)
      }
      taken++
    }
    this.#waiting.splice(0, taken)
    return batch
  }

  async #call(batch: readonly WaitingQuestion[]): Promise<void> {
    try {
      const body = `[${batch.map(({ text }) => text).join(',')}]`
      const answers = await this.#calls.post(this.#path, body, (_, value) => answersTo(batch.length, value))
      batch.forEach(({ resolve, reject }, i) => {
        const answer = answers[i]!
        if ('allowed' in answer) resolve(answer)
        else reject(errorOfProblem(answer))
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}

/** @throws WireError, or ServiceError for fewer or more answers than questions */
function answersTo(count: number, value: unknown): readonly (AnswerBody | ProblemBody)[] {
  const answers = readBatchAnswer(value)
  if (answers.length !== count)
    throw new ServiceError(`the service gave ${answers.length} answers to ${count} questions`)
  return answers
}
