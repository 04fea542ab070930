import { type Policy, planOf, policyWith } from './core/decide/algorithms.ts'
import type { BlockOptions } from './core/decide/block/block.ts'
import { checkedCost } from './core/decide/cost.ts'
import type { Decision } from './core/decide/decision.ts'
import { type OnLimit, type OnStoreError, type Rule, ruleFields, ruleOf } from './core/decide/rule.ts'
import type { Step } from './core/decide/step.ts'
import { ConfigError } from './core/errors.ts'
import { escaped, joinParts } from './core/identify/key-text.ts'
import {
  type CallFields,
  checkCall,
  checkOptions,
  flag,
  func,
  type OptionFields,
  objectOf,
  recordOf,
  textCheck,
  under,
} from './core/options.ts'
import { createEngine, type Reserved } from './engine.ts'
import { LimitExceeded } from './limit-exceeded.ts'
import { andThen, type MaybePromise } from './maybe-promise.ts'
import type { Observer } from './observe/events.ts'
import { type Reservation, reservationOf } from './reservation.ts'
import { MemoryStore } from './stores/memory.ts'
import { type Store, storeCheck } from './stores/store.ts'

/** A policy as a limiter takes it. */
export interface LimiterPolicy extends Policy {
  /** Decides and reports, never refuses. */
  readonly shadow?: boolean
  /** Share of the limit in use, above 0 to 1, from which decisions are marked `soft`. */
  readonly soft?: number
  /**
   * `delay`: requests past `soft` are admitted with a `delayMs`, until the limit is reached. Default `deny`: the limit
   * alone counts.
   */
  readonly onLimit?: Exclude<OnLimit, 'deprioritize'>
  /** What becomes of a request while the store is slow or down, where it is a FallbackStore. Default `open`. */
  readonly onStoreError?: OnStoreError
  /** After so many refusals within a time, refuse everything for a time. */
  readonly block?: BlockOptions
  /**
   * Units that each node may take ahead, where the store is a PrefetchStore: a whole number ≥ 2, of which the capacity
   * counts at most. Only in a limiter of one policy: several are decided as one, by the store.
   */
  readonly prefetch?: number
}

export interface LimiterOptions<Name extends string, Async extends boolean> {
  /** Keeps this limiter's counters apart from others' in the same store. Default `limiter`. */
  readonly name?: string
  /** By name; a request must be admitted by all of them. */
  readonly policies: Readonly<Record<Name, LimiterPolicy>>
  /** Default: a MemoryStore of its own, which answers at once, without a promise. */
  readonly store?: Store<Async>
  /** Lets `block` refuse a key by hand, at the price of one more look-up for each decision. */
  readonly blockable?: boolean
  /** Is called with every event: decided, reserved, settled. */
  readonly observe?: Observer
}

/** What the fields of a limiter's policy may be beside those of any policy. */
export const limiterPolicyFields: Omit<OptionFields<LimiterPolicy>, keyof Policy> = {
  shadow: flag,
  soft: ruleFields.soft,
  onLimit: ruleFields.onLimit,
  onStoreError: ruleFields.onStoreError,
  block: ruleFields.block,
  prefetch: ruleFields.prefetch,
}

const OPTIONS = /* @__PURE__ */ objectOf<LimiterOptions<string, boolean>>(
  {
    name: textCheck,
    policies: recordOf(
      policyWith<LimiterPolicy>(limiterPolicyFields),
      'an object with a policy for each name',
    ),
    store: storeCheck,
    blockable: flag,
    observe: func,
  },
  ['policies'],
  {
    what: 'an object with policies, such as { policies: { api: { algorithm: "token-bucket", limit: 10, period: "1s" } } }',
    instead: { limit: 'give policies by name, each with a limit', policy: 'policies' },
  },
)

/** What calls take; the values are checked where they are used. */
const COST: CallFields = new Map([['cost', '']])
const COST_AND_TTL: CallFields = new Map([...COST, ['ttl', '']])

/** Which counter: one text, or parts, which are joined so that no two lists of parts can collide. */
export type Key = string | readonly string[]

export interface CostOption {
  /** Whole, 0 to 2^53−1; default 1. 0 looks, and writes nothing. */
  readonly cost?: number
}

export interface ReserveOptions extends CostOption {
  /** How long the reservation can be settled: milliseconds or text, default `1m`. Unsettled, the estimate stands. */
  readonly ttl?: number | string
}

/**
 * Limits by key. With a store in process every verb answers at once; with a shared one, by promise.
 * A refusal is a value; a wrong `cost` or key is a TypeError.
 */
export interface Limiter<Name extends string = string, Async extends boolean = false> {
  /** Decides, and charges every policy if all admit. */
  check(key: Key, options?: CostOption): MaybePromise<Decision, Async>
  /** As `check`, but a refusal is thrown (or rejects) as LimitExceeded. */
  limitOrThrow(key: Key, options?: CostOption): MaybePromise<Decision, Async>
  /** What `check` would answer; changes nothing. */
  peek(key: Key, options?: CostOption): MaybePromise<Decision, Async>
  /** As `check`, to be settled later by `commit` or `cancel`. */
  reserve(key: Key, options?: ReserveOptions): MaybePromise<Reservation<Async>, Async>
  /**
   * Gives back what a decision charged, or `amount` of it: never above capacity, and only in the window in which it
   * was charged.
   */
  refund(decision: Decision, amount?: number): MaybePromise<void, Async>
  /** Forgets all that a key has used, and its block. */
  reset(key: Key): MaybePromise<void, Async>
  /** Refuses a key for `duration` (milliseconds or text), whatever it has used. Needs `blockable`, or a policy's `block`. */
  block(key: Key, duration: number | string): MaybePromise<void, Async>
  /** Ends a block. */
  unblock(key: Key): MaybePromise<void, Async>
  readonly policies: Readonly<Record<Name, LimiterPolicy>>
}

/**
 * Makes a limiter of one or several policies, each of which must admit a request.
 * @throws ConfigError for a policy that is wrong or cannot be kept exactly
 * @example
 * const limiter = createLimiter({
 *   policies: { api: { algorithm: 'token-bucket', limit: 10, period: '1s' } },
 * })
 * const { allowed, retryAfterMs } = limiter.check('ada')
 */
export function createLimiter<const Name extends string, Async extends boolean = false>(
  options: LimiterOptions<Name, Async>,
): Limiter<Name, Async> {
  checkOptions(options, OPTIONS)
  const { name = 'limiter', policies, observe } = options
  const store = options.store ?? (new MemoryStore() as Store<boolean> as Store<Async>)
  const rules = policyRules(name, options)
  const only = rules.length === 1 ? rules[0]! : undefined
  const stepsOf = (key: Key, cost: number): Step[] => {
    const joined = joinedKey(key)
    if (only !== undefined) return [{ rule: only, key: joined, cost }]
    return rules.map((rule) => ({ rule, key: joined, cost }))
  }
  const engine = createEngine(store, observe)

  return {
    policies,
    check: (key, options) => engine.decide(name, stepsOf(key, givenCost(options)), false),
    limitOrThrow: (key, options) =>
      andThen<Decision, Decision, Async>(
        engine.decide(name, stepsOf(key, givenCost(options)), false),
        (decision) => {
          if (!decision.allowed) throw new LimitExceeded(decision)
          return decision
        },
      ),
    peek: (key, options) => engine.decide(name, stepsOf(key, givenCost(options)), true),
    reserve: (key, options) =>
      andThen<Reserved, Reservation<Async>, Async>(
        engine.reserve(name, stepsOf(key, givenCost(options, COST_AND_TTL)), options?.ttl ?? '1m'),
        ({ decision, once }) => reservationOf(engine, name, decision, once),
      ),
    refund: (decision, amount) =>
      andThen<boolean, void, Async>(engine.refund(name, decision, amount), () => undefined),
    reset: (key) => engine.reset(stepsOf(key, 0)),
    block: (key, duration) => engine.block(stepsOf(key, 1), duration),
    unblock: (key) => engine.block(stepsOf(key, 1), 0),
  }
}

/** Without a default object, which would be made for each request. */
function givenCost(options: CostOption | undefined, known: CallFields = COST): number {
  if (options === undefined) return 1
  checkCall(options, known)
  return options.cost === undefined ? 1 : checkedCost(options.cost)
}

function policyRules(
  limiter: string,
  { policies, blockable = false }: LimiterOptions<string, boolean>,
): readonly Rule[] {
  const entries = Object.entries(policies)
  if (entries.length === 0)
    throw new ConfigError('a limiter needs at least one policy', { path: ['policies'] })
  const rules = entries.map(([name, policy], i) => ruleFor(limiter, name, policy, blockable && i === 0))
  if (rules.length > 1 && rules.some(({ prefetch }) => prefetch !== undefined))
    throw new ConfigError('prefetch needs a limiter of one policy')
  return rules
}

function ruleFor(limiter: string, name: string, given: LimiterPolicy, blockable: boolean): Rule {
  checkName(name)
  const { shadow, soft, block, onLimit, onStoreError, prefetch, ...policy } = given
  const options = {
    mode: shadow ? 'shadow' : 'enforce',
    soft,
    block,
    blockable,
    onLimit,
    onStoreError,
    prefetch,
  } as const
  return under(['policies', name], () => ruleOf(name, `${limiter}/${name}`, planOf(policy), options))
}

/** Lists of parts begin with NUL; so do texts that begin with it, so that a text never collides with a list. */
function joinedKey(key: Key): string {
  if (typeof key === 'string') return key.charCodeAt(0) === 0 ? `\0${escaped(key)}` : key
  if (Array.isArray(key) && key.length > 0 && key.every((part) => typeof part === 'string'))
    return `\0${joinParts(key.map(escaped))}`
  throw new TypeError(
    'key must be a string or an array of strings; decide how to handle requests without a key before calling',
  )
}

function checkName(name: string): void {
  if (/^[\x20-\x7e]{1,64}$/.test(name)) return
  throw new ConfigError(
    `the name of a policy must be 1 to 64 printable ASCII characters, not ${JSON.stringify(name)}`,
    { path: ['policies', name] },
  )
}
