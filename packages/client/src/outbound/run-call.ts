import { type Answer, checkAnswer } from '../answers/answer-reader.ts'
import { readPart } from './answer-parts.ts'
import { type CallParts, OutboundCall } from './outbound-call.ts'
import type { OutboundCost } from './outbound-request.ts'
import type { UsageOfPart } from './usage.ts'

/** What a function that is run may say of its call. */
export interface RunningCall {
  readonly signal: AbortSignal | undefined
  /** The answer's status and headers, where there is one: they are read as those of `fetch` are. */
  answered(answer: Answer): void
  /** What it really cost. */
  settle(cost: OutboundCost): void
  /** A part of the answer, JSON as text or read: the destination's `usage` says what it cost. */
  used(part: unknown): void
}

/** A call that a function makes. */
export class RunCall extends OutboundCall {
  readonly resolve: (value: unknown) => void
  readonly #job: (call: RunningCall) => unknown
  #heard = false
  #actual: OutboundCost | undefined
  #read: UsageOfPart | undefined

  constructor(parts: CallParts, job: (call: RunningCall) => unknown, resolve: (value: unknown) => void) {
    super(parts)
    this.#job = job
    this.resolve = resolve
  }

  override answered(answer: Answer): void {
    if (this.#heard) return
    checkAnswer(answer)
    super.answered(answer)
    this.#heard = true
  }

  async start(): Promise<void> {
    try {
      const value = await this.#job({
        signal: this.signal,
        answered: (answer) => this.answered(answer),
        settle: (cost) => {
          this.#actual = cost
        },
        used: (part) => {
          this.#read ??= this.route.destination.usage?.(this.request!)
          if (this.#read !== undefined) this.#actual = readPart(part, this.#read) ?? this.#actual
        },
      })
      this.answered({ status: 200, headers: {} })
      this.ended(this.#actual)
      this.resolve(value)
    } catch (error) {
      if (this.#heard) this.ended(this.#actual)
      else this.lost(error)
      this.reject(error)
    }
  }
}
