import type { Firewall } from './firewall.ts'
import type { Offender } from './offender.ts'

/** Offenders that are handed to the firewall at once, and those that may wait for it. */
const MOST_AT_ONCE = 1_000
const MOST_WAITING = 10_000

/** Hands offenders to the firewall, one batch after the other; those that come meanwhile are the next batch. */
export class BanQueue {
  readonly #firewall: Firewall
  readonly #complain: (why: string) => void
  readonly #waiting = new Map<string, Offender>()
  #running: Promise<void> | undefined

  constructor(firewall: Firewall, complain: (why: string) => void) {
    this.#firewall = firewall
    this.#complain = complain
  }

  /** @param offender or why there is none; waits while too many do */
  async add(offender: Offender | string): Promise<void> {
    if (typeof offender === 'string') return this.#complain(offender)
    this.#waiting.set(offender.address, offender)
    this.#running ??= this.#run()
    if (this.#waiting.size >= MOST_WAITING) await this.#running
  }

  /** When all are banned that were added. */
  async done(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    await undefined // what comes in the same piece of input is in the same batch
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting.values()].slice(0, MOST_AT_ONCE)
      for (const { address } of batch) this.#waiting.delete(address)
      await this.#ban(batch)
    }
    this.#running = undefined
  }

  /** A batch is banned as a whole or not at all: where it is refused, each has a try of its own. */
  async #ban(batch: readonly Offender[]): Promise<void> {
    try {
      await this.#firewall.ban(batch)
    } catch (error) {
      if (batch.length === 1) return this.#complain((error as Error).message)
      for (const offender of batch) await this.#ban([offender])
    }
  }
}
