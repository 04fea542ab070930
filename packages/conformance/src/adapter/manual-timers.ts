/** Timers that go off when a test fires them. */
export class ManualTimers {
  readonly #pending = new Map<number, { readonly go: () => void; readonly ms: number }>()
  #last = 0
  #changed: () => void = () => undefined

  setTimeout = (go: () => void, ms: number): number => {
    this.#pending.set(++this.#last, { go, ms })
    this.#changed()
    return this.#last
  }

  clearTimeout = (timer: number): void => {
    this.#pending.delete(timer)
    this.#changed()
  }

  /** What is being waited for: milliseconds, in the order in which the waits began. */
  get waits(): readonly number[] {
    return [...this.#pending.values()].map(({ ms }) => ms)
  }

  /** Resolves once so many waits are going on. */
  async until(count: number): Promise<void> {
    while (this.#pending.size !== count) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }

  /** Ends all waits. */
  fire(): void {
    for (const [timer, { go }] of [...this.#pending]) {
      this.#pending.delete(timer)
      go()
    }
  }
}
