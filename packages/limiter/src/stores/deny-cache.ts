import type { Plan } from '../core/decide/algorithm.ts'
import type { Figures } from '../core/decide/figures.ts'
import { holdsSlots, stateText } from '../core/decide/step.ts'
import { above0, checkOptions, func, type OptionFields, objectOf, wholeFrom } from '../core/options.ts'
import type { Observer } from '../observe/events.ts'
import {
  type Charge,
  type Once,
  type Outcome,
  type StateName,
  type Step,
  type Store,
  storeCheck,
} from './store.ts'

export interface DenyCacheOptions {
  /** Most refusals remembered at once. Default 10,000. */
  readonly maxEntries?: number
  /**
   * Milliseconds after which the store is asked again, however long the retry time: so late at most is a reset, a
   * refund or a step of the server's clock noticed that came about elsewhere. Default 1,000.
   */
  readonly maxAgeMs?: number
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number
  /** Is called with an event for each refusal that is repeated. */
  readonly observe?: Observer | undefined
}

/** What the options of a DenyCache may be. */
export const denyCacheFields: OptionFields<DenyCacheOptions> = {
  maxEntries: wholeFrom(1),
  maxAgeMs: above0(Number.POSITIVE_INFINITY),
  now: func,
  observe: func,
}
const OPTIONS = /* @__PURE__ */ objectOf(denyCacheFields)

/** Milliseconds: timers keep them as 32 bits. */
const LONGEST_TIMER = 2 ** 31 - 1

interface KnownRefusal {
  readonly plan: Plan
  readonly cost: number
  readonly outcome: Outcome
  /** Monotonic milliseconds: before the question went out, and when its answer was in. */
  readonly asked: number
  readonly answered: number
}

/**
 * Remembers refusals, and repeats them without asking the store until their retry time: to the same policy and
 * key, by the same plan. A refusal changes nothing in the store, so not asking changes nothing either. No refusal
 * outlives its retry time or `maxAgeMs`, counted from before the store was asked; waits are counted from when it had
 * answered, so that they are never too short.
 *
 * Only what can be repeated exactly is: requests of one policy, when nothing at all is left (else a smaller cost
 * may still change the figures), at the cost that was refused (waits of others differ), without a block. Slots that
 * are held may be released at any moment, and are always asked about. A refund, reset or block through this store
 * takes effect at once; one through another process, within `maxAgeMs`.
 * @example
 * const store = new DenyCache(new FallbackStore(new RedisStore({ client })))
 */
export class DenyCache implements Store<true> {
  readonly async = true as const
  readonly #store: Store
  readonly #max: number
  readonly #maxAge: number
  readonly #now: () => number
  readonly #refusals = new Map<string, KnownRefusal>()
  readonly #observe: Observer | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @throws ConfigError for what is no store, and for invalid options */
  constructor(store: Store, options: DenyCacheOptions = {}) {
    checkOptions(store, storeCheck, 'store')
    checkOptions(options, OPTIONS)
    const { maxEntries = 10_000, maxAgeMs = 1_000, now = () => performance.now(), observe } = options
    this.#store = store
    this.#max = maxEntries
    this.#maxAge = maxAgeMs
    this.#now = now
    this.#observe = observe
  }

  async decide(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    const step = steps[0]
    if (steps.length !== 1 || !isRepeatable(step!)) return this.#store.decide(steps, peek)
    const asked = this.#now()
    const name = nameOf(step!)
    const known = this.#refusals.get(name)
    if (known !== undefined && known.plan === step!.rule.plan && known.cost === step!.cost) {
      const repeated = repeat(known, asked, this.#maxAge)
      if (repeated !== undefined) {
        this.#observe?.({ type: 'repeated', policy: step!.rule.name })
        return repeated
      }
    }
    const outcome = await this.#store.decide(steps, peek)
    const steady = !outcome.allowed && outcome.degraded !== true && outcome.figures[0]!.remaining === 0
    const { rule, cost } = step!
    if (steady) this.#remember(name, { plan: rule.plan, cost, outcome, asked, answered: this.#now() })
    else this.#refusals.delete(name)
    return outcome
  }

  async settle(charges: readonly Charge[], once?: Once): Promise<boolean> {
    for (const { step } of charges) this.#refusals.delete(nameOf(step))
    const settled = await this.#store.settle(charges, once)
    for (const { step } of charges) this.#refusals.delete(nameOf(step)) // what was refused while that was under way
    return settled
  }

  async reset(state: StateName): Promise<void> {
    await this.#store.reset(state)
    this.#refusals.delete(nameOf(state))
  }

  async block(state: StateName, ticks: number): Promise<void> {
    await this.#store.block(state, ticks)
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#refusals.clear()
    await this.#store.close()
  }

  /** Forgetting a refusal only costs a question: the oldest, which stands first, makes room. */
  #remember(name: string, refusal: KnownRefusal): void {
    this.#refusals.delete(name)
    if (this.#refusals.size >= this.#max) this.#refusals.delete(this.#refusals.keys().next().value!)
    this.#refusals.set(name, refusal)
    this.#timer ??= this.#wake()
  }

  #wake(): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => this.#sweep(), Math.min(this.#maxAge, LONGEST_TIMER))
    timer.unref?.()
    return timer
  }

  /** Nothing is remembered for longer than twice its time, though nobody asks. */
  #sweep(): void {
    const before = this.#now() - this.#maxAge
    for (const [name, { asked }] of this.#refusals) {
      if (asked > before) break
      this.#refusals.delete(name)
    }
    this.#timer = this.#refusals.size === 0 ? undefined : this.#wake()
  }
}

/** A block may begin or end by other requests than this one. */
function isRepeatable(step: Step): boolean {
  return step.rule.role === 'enforce' && step.rule.block === undefined && !holdsSlots(step)
}

function nameOf({ rule: { namespace, plan }, key }: StateName): string {
  return stateText(namespace, plan, key)
}

/** The refusal as it reads now; `undefined` once the store might answer otherwise, or more than waits have changed. */
function repeat(
  { outcome, asked, answered }: KnownRefusal,
  now: number,
  maxAge: number,
): Outcome | undefined {
  const [figures] = outcome.figures as readonly [Figures]
  const more = figures.moreAfterMs ?? Number.POSITIVE_INFINITY
  const retry = figures.retryAfterMs ?? Number.POSITIVE_INFINITY
  // In whole microseconds: the difference of two readings may lie a hair below the wait that has just passed.
  if (Math.round((now - asked) * 1_000) >= Math.round(Math.min(retry, more, maxAge) * 1_000)) return undefined
  const since = Math.round((now - answered) * 1_000)
  const shorter = (ms: number | null): number | null =>
    ms === null ? null : (Math.round(ms * 1_000) - since) / 1_000
  return {
    allowed: false,
    at: outcome.at + since,
    figures: [
      {
        ...figures,
        retryAfterMs: shorter(figures.retryAfterMs),
        moreAfterMs: shorter(figures.moreAfterMs),
        resetAfterMs: shorter(figures.resetAfterMs),
      },
    ],
  }
}
