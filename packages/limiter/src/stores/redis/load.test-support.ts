import type { Step } from '../../core/decide/step.ts'
import type { Store } from '../store.ts'

/** Asks a store on and on, whatever comes back, and counts that: `exact` has the store behind it. */
export class Load {
  readonly exact: Answers = { admitted: 0, refused: 0 }
  readonly degraded: Answers = { admitted: 0, refused: 0 }
  /** What no caller of a FallbackStore should ever see. */
  rejected = 0
  asked = 0
  /** Milliseconds that each answer took. */
  readonly took: number[] = []
  readonly #store: Store<true>
  readonly #pending = new Set<Promise<void>>()
  readonly #timer: ReturnType<typeof setInterval>

  /** @param requests asked once every two milliseconds, together */
  constructor(store: Store<true>, ...requests: readonly (readonly Step[])[]) {
    this.#store = store
    this.#timer = setInterval(() => {
      for (const steps of requests) {
        const answer = this.#ask(steps).finally(() => this.#pending.delete(answer))
        this.#pending.add(answer)
      }
    }, 2)
  }

  /** Until so many more have been asked. */
  async runs(more = 60): Promise<void> {
    for (const goal = this.asked + more; this.asked < goal; )
      await new Promise((resolve) => setTimeout(resolve, 2))
  }

  /** Waits for every answer; a question that hangs fails the test that waits. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#pending)
  }

  async #ask(steps: readonly Step[]): Promise<void> {
    this.asked++
    const began = performance.now()
    try {
      const { allowed, degraded } = await this.#store.decide(steps, false)
      this[degraded ? 'degraded' : 'exact'][allowed ? 'admitted' : 'refused']++
    } catch {
      this.rejected++
    }
    this.took.push(performance.now() - began)
  }
}

interface Answers {
  admitted: number
  refused: number
}
