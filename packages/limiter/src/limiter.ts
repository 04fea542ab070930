import { type Policy, planOf, policyWith } from './core/decide/algorithms.ts'
import type { BlockOptions } from './core/decide/block/block.ts'
import { type CostByName, checkedCost } from './core/decide/cost.ts'
import type { Decision } from './core/decide/decision.ts'
import { type OnLimit, type OnStoreError, type Rule, ruleFields, ruleOf } from './core/decide/rule.ts'
import { ConfigError } from './core/errors.ts'
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
  that,
  under,
} from './core/options.ts'
import type { Duration } from './core/time.ts'
import { createEngine, type Reserved } from './engine.ts'
import { LimitExceeded } from './limit-exceeded.ts'
import { andThen, type MaybePromise } from './maybe-promise.ts'
import type { Observer } from './observe/events.ts'
import { type Key, type Keys, type PolicyRule, PolicySteps } from './policy-steps.ts'
import { type Reservation, reservationOf } from './reservation.ts'
import { MemoryStore } from './stores/memory.ts'
import { type Store, storeCheck } from './stores/store.ts'
import { type Taken, takeUpTo } from './take-up-to.ts'

/** A policy as a limiter takes it. */
export interface LimiterPolicy extends Policy {
  /**
   * The field of the keys that counts here: with `key: 'tenant'` the limiter is asked by `{ tenant: 't1', … }`. All
   * policies of a limiter have one, or none.
   */
  readonly key?: string
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
  key: that(
    'the name of a field of the keys, such as tenant',
    (value) => typeof value === 'string' && value !== '',
  ),
}

const IN_A_POLICY = 'it belongs in a policy: { policies: { api: { … } } }'
const OPTIONS = /* @__PURE__ */ objectOf<LimiterOptions<string, boolean>>(
  {
    name: textCheck,
    policies: recordOf(
      policyWith<LimiterPolicy>(limiterPolicyFields),
      'an object with a policy for each name, such as { api: { algorithm: "token-bucket", limit: 10, period: "1s" } }',
    ),
    store: storeCheck,
    blockable: flag,
    observe: func,
  },
  ['policies'],
  {
    what: 'an object with policies, such as { policies: { api: { algorithm: "token-bucket", limit: 10, period: "1s" } } }',
    instead: {
      algorithm: IN_A_POLICY,
      limit: IN_A_POLICY,
      period: IN_A_POLICY,
      policy: 'policies',
    },
  },
)

/** What calls take; the values are checked where they are used. */
const COST: CallFields = new Map([['cost', '']])
const COST_AND_TTL: CallFields = new Map([...COST, ['ttl', '']])

/** The same policies, where each literal that should be a duration is one. */
type CheckedDurations<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? K extends 'period' | 'within' | 'for'
      ? Duration<T[K]>
      : T[K]
    : T[K] extends object
      ? CheckedDurations<T[K]>
      : T[K]
}

/** Policies as they are inferred, with their durations checked. */
export interface CheckedPolicies<Policies> {
  readonly policies: Policies & CheckedDurations<Policies>
}

/** The fields that policies name. */
export type FieldOf<Policies> = {
  [Name in keyof Policies]: Policies[Name] extends { readonly key?: infer Field } ? Field & string : never
}[keyof Policies]

/** What a limiter is asked by: one key for all its policies, or, where they name fields, an object of keys. */
export type KeyOf<Field extends string> = string extends Field
  ? Key | Keys
  : [Field] extends [never]
    ? Key
    : Keys<Field>

/** To reset and to block: where policies name fields, those of the given fields. */
type SomeKeyOf<Field extends string> = [Field] extends [never] ? Key : Partial<KeyOf<Field>>

export interface CostOption<Name extends string = string> {
  /**
   * Whole, 0 to 2^53−1; default 1. 0 looks, and writes nothing. For policies that cost differently an object of costs
   * by their names; a policy that is not named costs 1.
   */
  readonly cost?: number | CostByName<Name>
}

export interface ReserveOptions<Name extends string = string, Text extends string = string>
  extends CostOption<Name> {
  /** How long the reservation can be settled: milliseconds or text, default `1m`. Unsettled, the estimate stands. */
  readonly ttl?: number | Duration<Text>
}

/** A limiter's decision: a store in process knows all figures; of a shared one, `remaining` is null where it fails. */
export type DecisionBy<Name extends string, Async extends boolean> = Decision<
  Name,
  Async extends true ? number | null : number
>

/**
 * Limits by key. With a store in process every verb answers at once; with a shared one, by promise.
 * A refusal is a value; a wrong `cost` or key is a TypeError.
 */
export interface Limiter<
  Name extends string = string,
  Async extends boolean = false,
  Field extends string = never,
> {
  /** Decides, and charges every policy if all admit. */
  check(key: KeyOf<Field>, options?: CostOption<Name>): MaybePromise<DecisionBy<Name, Async>, Async>
  /** As `check`, but a refusal is thrown (or rejects) as LimitExceeded. */
  limitOrThrow(key: KeyOf<Field>, options?: CostOption<Name>): MaybePromise<DecisionBy<Name, Async>, Async>
  /** What `check` would answer; changes nothing. */
  peek(key: KeyOf<Field>, options?: CostOption<Name>): MaybePromise<DecisionBy<Name, Async>, Async>
  /**
   * Charges every policy the largest cost up to `most` that all admit, and says how much that is: 0 where nothing
   * is left.
   */
  takeUpTo(key: KeyOf<Field>, most: number): MaybePromise<Taken<DecisionBy<Name, Async>>, Async>
  /** As `check`, to be settled later by `commit` or `cancel`. */
  reserve<const Text extends string = never>(
    key: KeyOf<Field>,
    options?: ReserveOptions<Name, Text>,
  ): MaybePromise<Reservation<Async, Name>, Async>
  /**
   * Gives back what a decision charged, or `amount` of it: never above capacity, and only in the window in which it
   * was charged. Of policies that an amount by name does not name, nothing. Slots that are held are released.
   */
  refund(decision: Decision<Name>, amount?: number | CostByName<Name>): MaybePromise<void, Async>
  /** Forgets all that a key has used, and its block. Where policies name fields: of the fields that are given. */
  reset(key: SomeKeyOf<Field>): MaybePromise<void, Async>
  /** Refuses a key for `duration` (milliseconds or text), whatever it has used. Needs `blockable`, or a policy's `block`. */
  block<const Text extends string = never>(
    key: SomeKeyOf<Field>,
    duration: number | Duration<Text>,
  ): MaybePromise<void, Async>
  /** Ends a block. */
  unblock(key: SomeKeyOf<Field>): MaybePromise<void, Async>
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
export function createLimiter<
  const Policies extends Readonly<Record<string, LimiterPolicy>>,
  Async extends boolean = false,
>(
  options: LimiterOptions<keyof Policies & string, Async> & CheckedPolicies<Policies>,
): Limiter<keyof Policies & string, Async, FieldOf<Policies>>
export function createLimiter<Async extends boolean>(
  options: LimiterOptions<string, Async>,
): Limiter<string, Async, string> {
  checkOptions(options, OPTIONS)
  const { name = 'limiter', policies, observe } = options
  const store = options.store ?? (new MemoryStore() as Store<boolean> as Store<Async>)
  const steps = new PolicySteps(policyRules(name, options))
  const engine = createEngine(store, observe)
  const checkNames = (cost: number | CostByName): void => steps.checkNames(cost)
  // What only a type can say: a store in process knows all figures.
  const decide = engine.decide as (
    ...asked: Parameters<typeof engine.decide>
  ) => MaybePromise<DecisionBy<string, Async>, Async>

  return {
    policies,
    check: (key, options) => decide(name, steps.of(key, givenCost(options)), false),
    limitOrThrow: (key, options) =>
      andThen<DecisionBy<string, Async>, DecisionBy<string, Async>, Async>(
        decide(name, steps.of(key, givenCost(options)), false),
        (decision) => {
          if (!decision.allowed) throw new LimitExceeded(decision)
          return decision
        },
      ),
    peek: (key, options) => decide(name, steps.of(key, givenCost(options)), true),
    takeUpTo: (key, most) =>
      takeUpTo<Async, DecisionBy<string, Async>>(
        (cost) => decide(name, steps.of(key, cost), true),
        (cost) => decide(name, steps.of(key, cost), false),
        checkedCost(most),
      ),
    reserve: (key, options) =>
      andThen<Reserved, Reservation<Async>, Async>(
        engine.reserve(name, steps.of(key, givenCost(options, COST_AND_TTL)), options?.ttl ?? '1m'),
        ({ decision, once }) => reservationOf(engine, name, decision, once, checkNames),
      ),
    refund(decision, amount) {
      if (amount !== undefined) checkNames(amount)
      return andThen<boolean, void, Async>(engine.refund(name, decision, amount), () => undefined)
    },
    reset: (key) => engine.reset(steps.some(key as Key | Keys, 0)),
    block: (key, duration) => engine.block(steps.some(key as Key | Keys, 1), duration),
    unblock: (key) => engine.block(steps.some(key as Key | Keys, 1), 0),
  }
}

/** Without a default object, which would be made for each request. */
function givenCost(options: CostOption | undefined, known: CallFields = COST): number | CostByName {
  if (options === undefined) return 1
  checkCall(options, known)
  const { cost } = options
  if (cost === undefined) return 1
  return typeof cost === 'object' && cost !== null ? cost : checkedCost(cost)
}

function policyRules(
  limiter: string,
  { policies, blockable = false }: LimiterOptions<string, boolean>,
): readonly PolicyRule[] {
  const entries = Object.entries(policies)
  if (entries.length === 0)
    throw new ConfigError('policies must have at least one policy', { path: ['policies'] })
  const fields = entries.map(([, { key }]) => key)
  const bare = fields.indexOf(undefined)
  if (bare >= 0 && fields.some((field) => field !== undefined))
    throw new ConfigError('policies name the field of their key all, or none does', {
      path: ['policies', entries[bare]![0], 'key'],
    })
  const rules = entries.map(([name, { key, ...policy }], i) => ({
    // A block by hand is that of the first policy of each field.
    rule: ruleFor(limiter, name, policy, blockable && fields.indexOf(key) === i),
    field: key,
  }))
  if (rules.length > 1 && rules.some(({ rule }) => rule.prefetch !== undefined))
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
  const namespace = `${withoutSlash(limiter)}/${withoutSlash(name)}`
  return under(['policies', name], () => ruleOf(name, namespace, planOf(policy), options))
}

/** So that no other pair of names ends up in a namespace, and no part of a name looks like a state's own parts. */
function withoutSlash(name: string): string {
  return name.replace(/[%/\0]/g, encodeURIComponent)
}

function checkName(name: string): void {
  if (/^[\x20-\x7e]{1,64}$/.test(name)) return
  throw new ConfigError(
    `the name of a policy must be 1 to 64 printable ASCII characters, not ${JSON.stringify(name)}`,
    { path: ['policies', name] },
  )
}
