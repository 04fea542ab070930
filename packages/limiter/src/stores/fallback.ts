import type { Plan } from '../core/decide/algorithm.ts'
import { planOf } from '../core/decide/algorithms.ts'
import { admitted } from '../core/decide/combine.ts'
import type { Figures } from '../core/decide/figures.ts'
import type { Step } from '../core/decide/step.ts'
import { ConfigError, StoreError } from '../core/errors.ts'
import { Breaker, type BreakerOptions, type BreakerState } from './breaker.ts'
import { Deadline } from './deadline.ts'
import { MemoryStore } from './memory.ts'
import type { Charge, Once, Outcome, Store } from './store.ts'

export interface FallbackOptions extends BreakerOptions {
  /** Milliseconds that the store has to answer. Default 50. */
  readonly deadlineMs?: number
  /** Share of each limit, above 0 to 1, that `local` steps grant in this process: 1/nodes keeps to the whole. Default 1. */
  readonly localShare?: number
  /** Told how many milliseconds each answer took. */
  readonly onAnswer?: (ms: number) => void
  /** Told of each failure, and of the breaker's state after it. */
  readonly onFailure?: (error: unknown, state: BreakerState) => void
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number
}

/**
 * Answers in place of a store that is slow or gone, by each step's `onStoreError`: `open` admits, `closed`
 * refuses, `local` decides in this process by a share of the limit. Slow and broken are one: after the deadline,
 * which does not depend on any client's queue, or any error. A breaker then stops asking for a while, so that
 * answers come at once; where the store has shards, by a breaker for each. Nothing is ever asked twice: a late reply
 * may have charged.
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
  readonly #onAnswer: (ms: number) => void
  readonly #onFailure: (error: unknown, state: BreakerState) => void
  readonly #shares = new WeakMap<Plan, Plan>()

  constructor(store: Store, options: FallbackOptions = {}) {
    const {
      deadlineMs = 50,
      localShare = 1,
      now = () => performance.now(),
      onAnswer = () => undefined,
      onFailure = () => undefined,
    } = options
    if (!(deadlineMs > 0 && deadlineMs <= 60_000))
      throw new ConfigError('deadlineMs must lie above 0, up to 60000')
    if (!(localShare > 0 && localShare <= 1)) throw new ConfigError('localShare must lie above 0, up to 1')
    this.#store = store
    this.#local = new MemoryStore()
    this.#deadline = new Deadline(deadlineMs, now)
    this.#breakerOptions = options
    this.#share = localShare
    this.#now = now
    this.#onAnswer = onAnswer
    this.#onFailure = onFailure
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
      return this.#degraded(steps, peek, Math.max(1, ...breakers.map(({ retryInMs }) => retryInMs)))
    }
  }

  /** Rejects with StoreError while the store does not answer: a correction must not get lost unnoticed. */
  async settle(charges: readonly Charge[], once?: Once): Promise<boolean> {
    const local = charges.filter(({ degraded }) => degraded)
    if (local.length === 0) {
      const breakers = this.#breakersOf(charges.map(({ step }) => step))
      return this.#ask(breakers, () => this.#store.settle(charges, once))
    }
    const own = local.filter(({ step }) => step.onStoreError === 'local')
    return this.#local.settle(
      own.map((charge) => ({ ...charge, step: this.#ownShare(charge.step) })),
      once,
    )
  }

  async reset(step: Pick<Step, 'plan' | 'policy' | 'key'>): Promise<void> {
    this.#local.reset({ ...step, plan: this.#shareOf(step.plan) })
    await this.#ask(this.#breakersOf([step]), () => this.#store.reset(step))
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
      const breaker = new Breaker(this.#breakerOptions, this.#now)
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
      for (const breaker of breakers) breaker.failed()
      this.#onFailure(cause, worstOf(breakers))
      throw cause instanceof StoreError ? cause : new StoreError('the store failed', { cause })
    }
    for (const breaker of breakers) breaker.succeeded()
    this.#onAnswer(this.#now() - began)
    return answer
  }

  #degraded(steps: readonly Step[], peek: boolean, retryInMs: number): Outcome {
    const closed = steps.some(({ onStoreError, role }) => onStoreError === 'closed' && role !== 'shadow')
    const own = steps.flatMap((step, i) => (step.onStoreError === 'local' ? [i] : []))
    // Where the request is refused anyway, nothing is charged.
    const asked = own.map((i) => ({
      ...this.#ownShare(steps[i]!),
      watches: own.indexOf(steps[i]!.watches ?? -1),
    }))
    const local = this.#local.decide(asked, peek || closed)
    const figures = steps.map((step, i) => {
      if (step.onStoreError === 'local') return local.figures[own.indexOf(i)]!
      return step.onStoreError === 'closed' ? refusing(step, retryInMs) : admitting(step)
    })
    return { allowed: admitted(steps, figures), at: local.at, figures, degraded: true }
  }

  #ownShare(step: Step): Step {
    return { ...step, plan: this.#shareOf(step.plan) }
  }

  #shareOf(plan: Plan): Plan {
    const { source } = plan
    if (this.#share === 1 || source === undefined || source.limit === 0) return plan
    const known = this.#shares.get(plan)
    if (known !== undefined) return known
    const part = (units: number): number => Math.max(1, Math.floor(units * this.#share))
    const share = planOf({
      ...source,
      limit: part(source.limit),
      ...(source.burst === undefined ? undefined : { burst: part(source.burst) }),
    })
    this.#shares.set(plan, share)
    return share
  }
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
function refusing({ plan }: Step, wait: number): Figures {
  return {
    allowed: false,
    limit: plan.capacity,
    remaining: 0,
    retryAfterMs: wait,
    moreAfterMs: wait,
    resetAfterMs: wait,
    delayMs: 0,
  }
}

function admitting({ plan, cost }: Step): Figures {
  const remaining = Math.max(0, plan.capacity - cost)
  return {
    allowed: true,
    limit: plan.capacity,
    remaining,
    retryAfterMs: 0,
    moreAfterMs: null,
    resetAfterMs: 0,
    delayMs: 0,
  }
}
