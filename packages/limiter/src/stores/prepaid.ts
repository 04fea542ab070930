import type { Step } from '../core/decide/step.ts'
import { ConfigError } from '../core/errors.ts'
import { Account, type House } from './prepaid/account.ts'
import type { Charge, Once, Outcome, Store } from './store.ts'

export interface PrepaidOptions {
  /** Nodes that share the store: a lease takes at most 1/(2·nodes) of what is left, so that all find some. Default 2. */
  readonly nodes?: number
  /** Milliseconds without use after which a lease is given back, or half as late again. Default 1,000. */
  readonly idleMs?: number
  /** Most keys with leases at once; all others are asked about. Default 10,000. */
  readonly maxKeys?: number
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number
}

/**
 * Takes units ahead where a step allows it (`Step.ahead`), charged in the store like any others, and grants them in
 * this process without asking. So nothing is granted twice. With leases of k units at each of n nodes:
 * - fixed windows admit exactly what they admit without: a lease ends with its window, counted from before the store
 *   was asked;
 * - everything else admits, in any interval, at most n·(k − 1) more than without;
 * - n·(k − 1) units at most lie unused, until they are used or given back.
 *
 * Requests of several steps go straight to the store, and refusals always come from there.
 */
export class PrepaidStore implements Store<true> {
  readonly async = true as const
  readonly #house: House
  readonly #idle: number
  readonly #max: number
  /** By policy and key. */
  readonly #accounts = new Map<string, Map<string, Account>>()
  #size = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(store: Store, options: PrepaidOptions = {}) {
    const { nodes = 2, idleMs = 1_000, maxKeys = 10_000, now = () => performance.now() } = options
    for (const [name, value] of Object.entries({ nodes, maxKeys })) {
      if (!(Number.isSafeInteger(value) && value > 0))
        throw new ConfigError(`${name} must be a whole number above 0`)
    }
    if (!(idleMs > 0 && idleMs <= 3_600_000)) throw new ConfigError('idleMs must lie above 0, up to 3600000')
    this.#house = { store, nodes, now, granted: 0 }
    this.#idle = idleMs
    this.#max = maxKeys
  }

  /** Requests granted without a question. */
  get granted(): number {
    return this.#house.granted
  }

  decide(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    const step = steps[0]
    if (steps.length === 1 && step!.ahead !== undefined && step!.role === 'enforce') {
      const looks = peek || step!.cost === 0
      const account = looks ? this.#find(step!) : this.#account(step!)
      if (account !== undefined) return looks ? account.look(step!) : account.decide(step!)
    }
    return this.#ask(steps, peek)
  }

  async settle(charges: readonly Charge[], once?: Once): Promise<boolean> {
    // What is charged later makes the figures known here too good; what is given back, not good enough.
    const raised = charges.filter(({ change }) => change > 0)
    const forget = (): void => {
      for (const { step } of raised) this.#find(step)?.forgetFigures()
    }
    forget()
    const settled = await this.#house.store.settle(charges, once)
    forget() // what was told while that was under way
    return settled
  }

  /** Forgets this node's lease as well. Those of other nodes last until they are used up or idle. */
  async reset(step: Pick<Step, 'plan' | 'policy' | 'key'>): Promise<void> {
    const account = this.#find(step)
    this.#forget(step)
    await account?.asking
    await this.#house.store.reset(step)
    this.#forget(step) // what was taken while that was under way is forgotten with the rest
  }

  /** Gives back all leases; the store stays open. Never rejects. */
  async release(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const accounts = [...this.#all()]
    this.#accounts.clear()
    this.#size = 0
    await Promise.all(accounts.map((account) => account.retire()))
  }

  /** Gives back all leases, then closes the store. */
  async close(): Promise<void> {
    await this.release()
    await this.#house.store.close()
  }

  /** `undefined` where there are too many already. A changed limit ends a lease. */
  #account(step: Step): Account | undefined {
    const known = this.#find(step)
    if (known !== undefined) {
      if (known.step.plan === step.plan) return known
      this.#forget(step)
      void known.retire()
    }
    if (this.#size >= this.#max) return undefined
    const account = new Account(step, this.#house)
    const ofPolicy = this.#accounts.get(step.policy) ?? new Map<string, Account>()
    this.#accounts.set(step.policy, ofPolicy.set(step.key, account))
    this.#size++
    this.#timer ??= this.#wake()
    return account
  }

  #find({ policy, key }: Pick<Step, 'policy' | 'key'>): Account | undefined {
    return this.#accounts.get(policy)?.get(key)
  }

  #forget({ policy, key }: Pick<Step, 'policy' | 'key'>): void {
    const ofPolicy = this.#accounts.get(policy)
    if (ofPolicy?.delete(key) !== true) return
    this.#size--
    if (ofPolicy.size === 0) this.#accounts.delete(policy)
  }

  *#all(): Iterable<Account> {
    for (const ofPolicy of this.#accounts.values()) yield* ofPolicy.values()
  }

  async #ask(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    return this.#house.store.decide(steps, peek)
  }

  #wake(): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => this.#sweep(), this.#idle / 2)
    timer.unref?.()
    return timer
  }

  #sweep(): void {
    const since = this.#house.now() - this.#idle
    for (const account of this.#all()) {
      if (account.used > since || account.asking !== undefined) continue
      this.#forget(account.step)
      void account.retire()
    }
    this.#timer = this.#size === 0 ? undefined : this.#wake()
  }
}
