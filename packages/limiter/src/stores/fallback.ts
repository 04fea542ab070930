import { admitted } from '../core/decide/combine.ts'
import type { StatedFigures } from '../core/decide/figures.ts'
import { chargedAt } from '../core/decide/outcome.ts'
import { canRefuse } from '../core/decide/role.ts'
import type { Rule } from '../core/decide/rule.ts'
import { shareOf } from '../core/decide/share.ts'
import { ConfigError, StoreError } from '../core/errors.ts'
import { above0, checkOptions, func, type OptionFields, objectOf } from '../core/options.ts'
import type { BreakerState, Observer } from '../observe/events.ts'
import { Breaker, type BreakerOptions, breakerFields } from './breaker.ts'
import { Deadline, isLate } from './deadline.ts'
import { MemoryStore, type MemoryStoreOptions, memoryFields } from './memory.ts'
import {
  type Charge,
  type Once,
  type Outcome,
  type StateName,
  type Step,
  type Store,
  storeCheck,
} from './store.ts'

export interface FallbackOptions extends BreakerOptions {
  /** Milliseconds that the store has to answer. Default 50. */
  readonly deadlineMs?: number
  /** Share of each limit, above 0 to 1, that `local` rules grant in this process: 1/nodes keeps to the whole. Default 1. */
  readonly localShare?: number
  /** How much `local` rules may keep in this process. Default: that of a MemoryStore. */
  readonly local?: Pick<MemoryStoreOptions, 'maxKeys' | 'maxBytes'>
  /** Is called with an event for each answer, each failure, and each change of a breaker. */
  readonly observe?: Observer | undefined
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number
}

/** What the options of a FallbackStore may be. */
export const fallbackFields: OptionFields<FallbackOptions> = {
  ...breakerFields,
  deadlineMs: above0(60_000),
  localShare: above0(1),
  local: objectOf<NonNullable<FallbackOptions['local']>>({
    maxKeys: memoryFields.maxKeys,
    maxBytes: memoryFields.maxBytes,
  }),
  observe: func,
  now: func,
}
const OPTIONS = /* @__PURE__ */ objectOf(fallbackFields)

/**
 * Answers in place of a store that is slow or down, by each rule's `onStoreError`: `open` admits, `closed`
 * refuses, `local` decides in this process by a share of the limit. Slow and broken are treated alike: after the deadline,
 * which does not depend on any client's queue, or any error. A breaker then stops asking for a while, so that
 * answers come at once; where the store has shards, by a breaker for each. Nothing is ever asked twice: a late reply
 * may have charged.
 * @example
 * const store = new FallbackStore(new RedisStore({ client }), { deadlineMs: 50 })
 */
export class FallbackStore implements Store<true> {
  readonly async = true as const
  readonly #store: Store
  readonly #local: MemoryStore
  readonly #deadline: Deadline
  readonly #breakers = new Map<number, Breaker>()
  readonly #breakerOptions: BreakerOptions
  readonly #share: number
  readonly #now: () => number
  readonly #observe: Observer
  readonly #localRules = new WeakMap<Rule, Rule>()

  /** @throws ConfigError for what is no store, and for invalid options */
  constructor(store: Store, options: FallbackOptions = {}) {
    checkOptions(store, storeCheck, 'store')
    checkOptions(options, OPTIONS)
    const {
      failures,
      probeEveryMs,
      deadlineMs = 50,
      localShare = 1,
      local,
      now = () => performance.now(),
      observe = () => undefined,
    } = options
    this.#store = store
    this.#local = new MemoryStore(local)
    this.#deadline = new Deadline(deadlineMs, now)
    this.#breakerOptions = { failures, probeEveryMs }
    this.#share = localShare
    this.#now = now
    this.#observe = observe
  }

  /** Of several breakers, the worst. */
  get state(): BreakerState {
    return worstOf([...this.#breakers.values()])
  }

  async decide(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    const breakers = this.#breakersOf(steps)
    try {
      return await this.#ask(breakers, () => this.#store.decide(steps, peek))
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      return this.#degraded(steps, peek, retryInMs(breakers))
    }
  }

  /**
   * What the rules' `onStoreError` say, without asking the store: for a caller who cannot wait until `decide` answers.
   * @example
   * const late = new Promise((resolve) => setTimeout(resolve, 15)) // milliseconds
   * const outcome = await Promise.race([store.decide(steps, false), late.then(() => store.without(steps, false))])
   */
  without(steps: readonly Step[], peek: boolean): Outcome {
    return this.#degraded(steps, peek, retryInMs(this.#breakersOf(steps)))
  }

  /** Rejects with StoreError while the store does not answer: a correction must not get lost unnoticed. */
  async settle(charges: readonly Charge[], once?: Once): Promise<boolean> {
    const local = charges.filter(({ degraded }) => degraded)
    if (local.length === 0) {
      const breakers = this.#breakersOf(charges.map(({ step }) => step))
      return this.#ask(breakers, () => this.#store.settle(charges, once))
    }
    const own = local.filter(({ step }) => step.rule.onStoreError === 'local')
    return this.#local.settle(
      own.map((charge) => ({ ...charge, step: this.#localStep(charge.step) })),
      once,
    )
  }

  async reset(state: StateName): Promise<void> {
    this.#local.reset(this.#localStep(state))
    await this.#ask(this.#breakersOf([state]), () => this.#store.reset(state))
  }

  async block(state: StateName, ticks: number): Promise<void> {
    if (state.rule.onStoreError === 'local') this.#local.block(this.#localStep(state), ticks)
    await this.#ask(this.#breakersOf([state]), () => this.#store.block(state, ticks))
  }

  /** What the store does not answer within the deadline is not waited for. */
  async close(): Promise<void> {
    this.#local.close()
    await this.#deadline.race(Promise.resolve().then(() => this.#store.close())).catch(() => undefined)
  }

  #breakersOf(steps: readonly Pick<Step, 'key'>[]): readonly Breaker[] {
    const shards = new Set(steps.map((step) => this.#store.shardOf?.(step) ?? 0))
    if (shards.size === 0) shards.add(0)
    return [...shards].map((shard) => {
      const known = this.#breakers.get(shard)
      if (known !== undefined) return known
      const changed = (state: BreakerState): void => this.#observe({ type: 'breaker', state, shard })
      const breaker = new Breaker(this.#breakerOptions, this.#now, changed)
      this.#breakers.set(shard, breaker)
      return breaker
    })
  }

  /** @throws StoreError when the store failed, was too slow, or is not asked for the time being */
  async #ask<T>(breakers: readonly Breaker[], question: () => T | Promise<T>): Promise<T> {
    if (!breakers.every(({ admits }) => admits))
      throw new StoreError('the store is not asked while it keeps failing')
    for (const breaker of breakers) breaker.asked()
    const began = this.#now()
    let answer: T
    try {
      answer = await this.#deadline.race(Promise.resolve().then(question))
    } catch (cause) {
      if (isOurs(cause)) {
        for (const breaker of breakers) breaker.spared()
        throw cause
      }
      // The reason first, so that whoever hears that the store is not asked any more knows why.
      this.#observe({ type: 'store-failed', error: cause, ...(isLate(cause) && { late: true }) })
      for (const breaker of breakers) breaker.failed()
      throw cause instanceof StoreError ? cause : new StoreError('the store failed', { cause })
    }
    for (const breaker of breakers) breaker.succeeded()
    this.#observe({ type: 'store-answered', ms: this.#now() - began })
    return answer
  }

  #degraded(steps: readonly Step[], peek: boolean, wait: number): Outcome {
    const closed = steps.some(({ rule }) => rule.onStoreError === 'closed' && canRefuse(rule.role))
    const own = steps.filter(({ rule }) => rule.onStoreError === 'local').map((step) => this.#localStep(step))
    // Where the request is refused anyway, nothing is charged.
    const local = this.#local.decide(own, peek || closed)
    const instants: number[] = []
    let n = 0
    const figures = steps.map((step, i) => {
      const isLocal = step.rule.onStoreError === 'local'
      instants[i] = isLocal ? chargedAt(local, n) : local.at
      if (isLocal) return local.figures[n++]!
      return step.rule.onStoreError === 'closed' ? refusing(step, wait) : admitting(step)
    })
    const outcome = { allowed: admitted(steps, figures), at: local.at, figures, degraded: true } as const
    return local.instants === undefined ? outcome : { ...outcome, instants }
  }

  /** The same for a rule of this process's share. */
  #localStep<S extends StateName>(step: S): S {
    if (this.#share === 1) return step
    const { rule } = step
    let local = this.#localRules.get(rule)
    if (local === undefined) {
      local = { ...rule, plan: shareOf(rule.plan, this.#share) }
      this.#localRules.set(rule, local)
    }
    return { ...step, rule: local }
  }
}

/** Milliseconds until all are asked again, at least 1. */
function retryInMs(breakers: readonly Breaker[]): number {
  return Math.max(1, ...breakers.map((breaker) => breaker.retryInMs))
}

/** A question that no store could answer says nothing of this one: else it could be made to look broken. */
function isOurs(cause: unknown): boolean {
  return cause instanceof ConfigError || cause instanceof RangeError
}

function worstOf(breakers: readonly Breaker[]): BreakerState {
  const states = breakers.map(({ state }) => state)
  return (['open', 'probing'] as const).find((state) => states.includes(state)) ?? 'closed'
}

/** A closed step cannot say when its limit admits again; it can say when the store is asked again. */
function refusing({ rule: { plan } }: Step, wait: number): StatedFigures {
  return { ...UNKNOWN, allowed: false, limit: plan.capacity, retryAfterMs: wait }
}

function admitting({ rule: { plan } }: Step): StatedFigures {
  return { ...UNKNOWN, allowed: true, limit: plan.capacity, retryAfterMs: 0 }
}

/** What only the store could say. */
const UNKNOWN = { remaining: null, moreAfterMs: null, resetAfterMs: null, delayMs: 0 } as const
