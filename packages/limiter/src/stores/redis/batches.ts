import { admitted } from '../../core/decide/combine.ts'
import { type Figures, figuresFrom } from '../../core/decide/figures.ts'
import type { Step } from '../../core/decide/step.ts'
import { StoreError } from '../../core/errors.ts'
import type { Outcome } from '../store.ts'
import { callToDecide, type Request } from './call.ts'
import type { Send } from './client.ts'
import type { Laws } from './laws.ts'
import { LOST, lost, run, TRIES } from './run.ts'
import type { StoreTime } from './store-time.ts'

/** Steps after which a call leaves at once: with more, the server idles while we write, and we while it decides. */
const MOST_STEPS = 32
/** Integers that answer a step. */
const FIGURES = 6

interface Waiting extends Request {
  tries: number
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

interface Batch {
  readonly requests: Waiting[]
  steps: number
}

/**
 * Decisions asked for in one turn of the event loop travel as one call, or a few. What fails fails for all in its
 * call: what became of each is then unknown.
 */
export class Batches {
  readonly #send: Send
  readonly #laws: Laws
  readonly #time: StoreTime
  readonly #batches = new Map<number, Batch>()
  readonly #asked = new Set<Promise<void>>()
  #scheduled = false

  constructor(send: Send, laws: Laws, time: StoreTime) {
    this.#send = send
    this.#laws = laws
    this.#time = time
  }

  /** @param slot only requests of one slot can travel together */
  decide(steps: readonly Step[], names: readonly string[], peek: boolean, slot: number): Promise<Outcome> {
    return new Promise((resolve, reject) =>
      this.#add({ steps, names, peek, tries: 0, resolve, reject }, slot),
    )
  }

  /** Sends what waits now rather than at the end of the turn. */
  flush(): void {
    this.#scheduled = false
    for (const [slot, batch] of this.#batches) this.#leave(batch, slot)
  }

  /** Until all that was asked is answered. */
  async settled(): Promise<void> {
    do {
      this.flush()
      await Promise.all(this.#asked)
    } while (this.#asked.size + this.#batches.size > 0)
  }

  #add(request: Waiting, slot: number): void {
    let batch = this.#batches.get(slot)
    if (batch === undefined) {
      batch = { requests: [], steps: 0 }
      this.#batches.set(slot, batch)
    }
    batch.requests.push(request)
    batch.steps += request.steps.length
    if (batch.steps >= MOST_STEPS) this.#leave(batch, slot)
    else if (!this.#scheduled) {
      this.#scheduled = true
      // After all I/O of this turn: requests that arrived together leave together.
      setImmediate(() => this.flush())
    }
  }

  #leave(batch: Batch, slot: number): void {
    this.#batches.delete(slot)
    const asked = this.#ask(batch, slot)
    this.#asked.add(asked)
    void asked.then(() => this.#asked.delete(asked))
  }

  async #ask({ requests, steps }: Batch, slot: number): Promise<void> {
    try {
      const reply = await run(this.#send, callToDecide(this.#laws, this.#time, requests), 1 + FIGURES * steps)
      this.#time.told(reply[0]!)
      let at = 1
      for (const request of requests) {
        if (reply[at] === LOST) this.#again(request, slot)
        else request.resolve(outcomeOf(request.steps, reply, at))
        at += FIGURES * request.steps.length
      }
    } catch (error) {
      if (requests.length > 1 && isParted(error)) await this.#askEach(requests, slot)
      else for (const { reject } of requests) reject(error)
    }
  }

  /** While a slot moves, two keys of it may be on two servers. Such a call runs nowhere; one of fewer keys may. */
  async #askEach(requests: readonly Waiting[], slot: number): Promise<void> {
    const batches = requests.map((request) => ({ requests: [request], steps: request.steps.length }))
    await Promise.all(batches.map((batch) => this.#ask(batch, slot)))
  }

  #again(request: Waiting, slot: number): void {
    request.tries++
    if (request.tries < TRIES) this.#add(request, slot)
    else request.reject(lost())
  }
}

function isParted(error: unknown): boolean {
  return (
    error instanceof StoreError && error.cause instanceof Error && error.cause.message.startsWith('TRYAGAIN')
  )
}

function outcomeOf(steps: readonly Step[], reply: readonly number[], from: number): Outcome {
  const at = reply[0]!
  const figures: Figures[] = new Array(steps.length)
  for (let i = 0; i < steps.length; i++) {
    const { plan, phase = 0 } = steps[i]!
    const n = from + i * FIGURES
    const [remaining, now] = [reply[n]!, reply[n + 5]!]
    const [retry, more, reset, delay] = [
      never(reply[n + 1]!),
      never(reply[n + 2]!),
      never(reply[n + 3]!),
      never(reply[n + 4]!),
    ]
    figures[i] = figuresFrom(plan, now, at - phase, retry === 0, remaining, retry, more, reset, delay)
  }
  return { allowed: admitted(steps, figures), at, figures }
}

function never(units: number): number {
  return units < 0 ? Number.POSITIVE_INFINITY : units
}
