import { above0, checkOptions, func, type OptionFields, objectOf, wholeFrom } from '../core/options.ts'
import { startTimer } from '../flow/timers.ts'
import type { Observer } from '../observe/events.ts'
import { KeyLease, type Shared } from './prefetch/key-lease.ts'
import {
  type Charge,
  type Once,
  type Outcome,
  type StateName,
  type Step,
  type Store,
  storeCheck,
} from './store.ts'

export interface PrefetchOptions {
  /** Nodes that share the store: a lease takes at most 1/(2·nodes) of what is left, so that all find some. Default 2. */
  readonly nodes?: number
  /** Milliseconds without use after which a lease is given back, or half as late again. Default 1,000. */
  readonly idleMs?: number
  /** Most keys with leases at once; all others are asked about. Default 10,000. */
  readonly maxKeys?: number
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number
  /** Is called with an event for each request that is granted without asking the store. */
  readonly observe?: Observer | undefined
}

/** What the options of a PrefetchStore may be. */
export const prefetchFields: OptionFields<PrefetchOptions> = {
  nodes: wholeFrom(1),
  idleMs: above0(3_600_000),
  maxKeys: wholeFrom(1),
  now: func,
  observe: func,
}
const OPTIONS = /* @__PURE__ */ objectOf(prefetchFields)

/**
 * Takes units ahead where a rule allows it (`prefetch`), charged in the store like any others, and grants them in
 * this process without asking. So nothing is granted twice. With leases of k units at each of n nodes:
 * - fixed windows admit exactly what they admit without: a lease ends with its window, counted from before the store
 *   was asked;
 * - everything else admits, in any interval, at most n·(k − 1) more than without;
 * - n·(k − 1) units at most lie unused, until they are used or given back.
 *
 * Requests of several steps go straight to the store, and refusals always come from there.
 * @example
 * const store = new PrefetchStore(new FallbackStore(new RedisStore({ client })), { nodes: 4 })
 */
export class PrefetchStore implements Store<true> {
  readonly async = true as const
  readonly #shared: Shared
  readonly #idle: number
  readonly #max: number
  /** By namespace and key. */
  readonly #leases = new Map<string, Map<string, KeyLease>>()
  #size = 0
  #stopTimer: (() => void) | undefined

  /** @throws ConfigError for what is no store, and for invalid options */
  constructor(store: Store, options: PrefetchOptions = {}) {
    checkOptions(store, storeCheck, 'store')
    checkOptions(options, OPTIONS)
    const { nodes = 2, idleMs = 1_000, maxKeys = 10_000, now = () => performance.now(), observe } = options
    this.#shared = { store, nodes, now, observe }
    this.#idle = idleMs
    this.#max = maxKeys
  }

  decide(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    const step = steps[0]
    if (steps.length === 1 && step!.rule.prefetch !== undefined && step!.rule.role === 'enforce') {
      const looks = peek || step!.cost === 0
      const lease = looks ? this.#find(step!) : this.#leaseOf(step!)
      if (lease !== undefined) return looks ? lease.look(step!) : lease.decide(step!)
    } else if (this.#size > 0 && !peek) for (const step of steps) this.#endWithout(step)
    return this.#ask(steps, peek)
  }

  async settle(charges: readonly Charge[], once?: Once): Promise<boolean> {
    // What is charged later makes the figures known here too good; what is given back, not good enough.
    const raised = charges.filter(({ change }) => change > 0)
    const forget = (): void => {
      for (const { step } of raised) this.#find(step)?.forgetFigures()
    }
    forget()
    const settled = await this.#shared.store.settle(charges, once)
    forget() // what was answered while that was under way
    return settled
  }

  /** Forgets this node's lease as well. Those of other nodes last until they are used up or idle. */
  async reset(step: StateName): Promise<void> {
    const lease = this.#find(step)
    this.#forget(step)
    await lease?.pending
    await this.#shared.store.reset(step)
    this.#forget(step) // what was taken while that was under way is forgotten with the rest
  }

  async block(state: StateName, ticks: number): Promise<void> {
    await this.#shared.store.block(state, ticks)
  }

  /** Gives back all leases; the store stays open. Never rejects. */
  async release(): Promise<void> {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    const leases = [...this.#all()]
    this.#leases.clear()
    this.#size = 0
    await Promise.all(leases.map((lease) => lease.retire()))
  }

  /** Gives back all leases, then closes the store. */
  async close(): Promise<void> {
    await this.release()
    await this.#shared.store.close()
  }

  /** `undefined` where there are too many already. A changed limit ends a lease. */
  #leaseOf(step: Step): KeyLease | undefined {
    const known = this.#find(step)
    if (known !== undefined) {
      if (known.step.rule.plan === step.rule.plan) return known
      this.#forget(step)
      void known.retire()
    }
    if (this.#size >= this.#max) return undefined
    const lease = new KeyLease(step, this.#shared)
    const ofNamespace = this.#leases.get(step.rule.namespace) ?? new Map<string, KeyLease>()
    this.#leases.set(step.rule.namespace, ofNamespace.set(step.key, lease))
    this.#size++
    this.#stopTimer ??= this.#wake()
    return lease
  }

  /** A rule that takes nothing ahead any more ends the lease that it had. */
  #endWithout(step: Step): void {
    const lease = step.rule.prefetch === undefined ? this.#find(step) : undefined
    if (lease === undefined) return
    this.#forget(step)
    void lease.retire()
  }

  #find({ rule, key }: StateName): KeyLease | undefined {
    return this.#leases.get(rule.namespace)?.get(key)
  }

  #forget({ rule: { namespace }, key }: StateName): void {
    const ofNamespace = this.#leases.get(namespace)
    if (ofNamespace?.delete(key) !== true) return
    this.#size--
    if (ofNamespace.size === 0) this.#leases.delete(namespace)
  }

  *#all(): Iterable<KeyLease> {
    for (const ofNamespace of this.#leases.values()) yield* ofNamespace.values()
  }

  async #ask(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    return this.#shared.store.decide(steps, peek)
  }

  #wake(): () => void {
    return startTimer(() => this.#sweep(), this.#idle / 2, { unref: true })
  }

  #sweep(): void {
    const since = this.#shared.now() - this.#idle
    for (const lease of this.#all()) {
      if (lease.used > since || lease.pending !== undefined) continue
      this.#forget(lease.step)
      void lease.retire()
    }
    this.#stopTimer = this.#size === 0 ? undefined : this.#wake()
  }
}
