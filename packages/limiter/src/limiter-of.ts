import type { Plan } from './core/decide/algorithm.ts'
import { type CostByName, checkedCost } from './core/decide/cost.ts'
import type { Decision } from './core/decide/decision.ts'
import { type Rule, ruleOfChecked } from './core/decide/rule.ts'
import type { Step } from './core/decide/step.ts'
import { ConfigError } from './core/errors.ts'
import {
  type CallFields,
  checkCall,
  checkOptions,
  flag,
  func,
  type OptionCheck,
  objectOf,
  recordOf,
  textCheck,
  under,
} from './core/options.ts'
import type { Duration } from './core/time.ts'
import { createEngine, type Engine, reserving } from './engine.ts'
import { LimitExceeded } from './limit-exceeded.ts'
import type { KeyOf, LimiterPolicy, SomeKeyOf } from './limiter-policy.ts'
import { andThen, type MaybePromise } from './maybe-promise.ts'
import type { Observer } from './observe/events.ts'
import { type Key, type Keys, type PolicyRule, PolicySteps } from './policy-steps.ts'
import { type Reservation, reservationOf } from './reservation.ts'
import { type Store, storeCheck } from './stores/store.ts'
import { type Taken, takeUpTo } from './take-up-to.ts'

/** What every limiter's options have. */
export interface LimiterOptions<
  Name extends string,
  Async extends boolean,
  Policy extends LimiterPolicy = LimiterPolicy,
> {
  /** Keeps this limiter's counters apart from others' in the same store. Default `limiter`. */
  readonly name?: string
  /** By name; a request must be admitted by all of them. */
  readonly policies: Readonly<Record<Name, Policy>>
  /** Default: one of its own in this process, which answers at once, without a promise: a MemoryStore, or a MapStore for a limiter of @sluice/limiter/edge. */
  readonly store?: Store<Async>
  /** Lets `block` refuse a key by hand, at the price of one more look-up for each decision. */
  readonly blockable?: boolean
  /** Is called with every event: decided, reserved, settled. */
  readonly observe?: Observer
}

/** What calls take; the values are checked where they are used. */
const COST: CallFields = new Map([['cost', '']])
const COST_AND_TTL: CallFields = new Map([...COST, ['ttl', '']])

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
  /**
   * As `check`, for who needs no figures: whether the cost was admitted, and charged. In process it makes no object,
   * and takes about half the time.
   */
  allow(key: KeyOf<Field>, options?: CostOption<Name>): MaybePromise<boolean, Async>
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
  /** What `check` would ask the store for; nothing is decided. */
  match(key: KeyOf<Field>, options?: CostOption<Name>): readonly Step[]
  /** The verbs below policies: by steps and charges. */
  readonly engine: Engine<Async>
  readonly name: string
  readonly policies: Readonly<Record<Name, LimiterPolicy>>
}

/** What differs from one createLimiter to another: which policies it reads, and how; where counters are by default. */
export interface LimiterKind {
  /** A check of all options: {@link limiterOptions}. */
  readonly options: OptionCheck
  /** @throws ConfigError where the policy cannot be kept exactly */
  planOf(policy: LimiterPolicy): Plan
  newStore(): Store<false>
  /** Parts that a store in process answers with less work. */
  short?<Async extends boolean>(parts: ShortParts<Async>): Partial<VerbParts<Async>>
}

/** What verbs are made of. */
export interface VerbParts<Async extends boolean> {
  decide(
    key: Key | Keys,
    cost: number | CostByName,
    peek: boolean,
  ): MaybePromise<DecisionBy<string, Async>, Async>
  readonly allow: Limiter<string, Async, string>['allow']
}

export interface ShortParts<Async extends boolean> extends VerbParts<Async> {
  readonly name: string
  readonly store: Store<Async>
  readonly steps: PolicySteps
  readonly observe: Observer | undefined
}

const IN_A_POLICY = 'it belongs in a policy: { policies: { api: { … } } }'

/** @param policy a check of one policy */
export function limiterOptions(policy: OptionCheck, sample: string): OptionCheck {
  return objectOf<LimiterOptions<string, boolean>>(
    {
      name: textCheck,
      policies: recordOf(policy, `an object with a policy for each name, such as { api: ${sample} }`),
      store: storeCheck,
      blockable: flag,
      observe: func,
    },
    ['policies'],
    {
      what: `an object with policies, such as { policies: { api: ${sample} } }`,
      instead: {
        algorithm: IN_A_POLICY,
        limit: IN_A_POLICY,
        period: IN_A_POLICY,
        policy: 'policies',
      },
    },
  )
}

/** The limiter that options of this kind describe. @throws ConfigError for options that are wrong */
export function limiterOf<Async extends boolean>(
  kind: LimiterKind,
  options: LimiterOptions<string, Async>,
): Limiter<string, Async, string> {
  checkOptions(options, kind.options)
  const { name = 'limiter', policies, observe } = options
  const store = options.store ?? (kind.newStore() as Store<boolean> as Store<Async>)
  const steps = new PolicySteps(policyRules(name, options, kind))
  const engine = createEngine(store, observe, true)
  const checkNames = (cost: number | CostByName): void => steps.checkNames(cost)
  const general: VerbParts<Async> = {
    decide: (key, cost, peek) =>
      // What only a type can say: a store in process knows all figures.
      engine.decide(name, steps.of(key, cost), peek) as MaybePromise<DecisionBy<string, Async>, Async>,
    allow: (key, options) =>
      andThen<DecisionBy<string, Async>, boolean, Async>(
        general.decide(key, givenCost(options), false),
        ({ allowed }) => allowed,
      ),
  }
  const { decide, allow } = { ...general, ...kind.short?.({ ...general, name, store, steps, observe }) }
  return {
    name,
    policies,
    engine,
    match: (key, options) => steps.of(key, givenCost(options)),
    check: (key, options) => decide(key, givenCost(options), false),
    allow,
    limitOrThrow: (key, options) =>
      andThen<DecisionBy<string, Async>, DecisionBy<string, Async>, Async>(
        decide(key, givenCost(options), false),
        admittedOrThrow,
      ),
    peek: (key, options) => decide(key, givenCost(options), true),
    takeUpTo: (key, most) =>
      takeUpTo<Async, DecisionBy<string, Async>>(
        (cost) => decide(key, cost, true),
        (cost) => decide(key, cost, false),
        checkedCost(most),
      ),
    reserve(key, options) {
      const cost = givenCost(options, COST_AND_TTL)
      const reserved = reserving(name, options?.ttl ?? '1m', observe)
      return andThen<Decision, Reservation<Async>, Async>(decide(key, cost, false), (decision) =>
        reservationOf(engine, name, decision, reserved(decision).once, checkNames),
      )
    },
    refund(decision, amount) {
      if (amount !== undefined) checkNames(amount)
      return andThen<boolean, void, Async>(engine.refund(name, decision, amount), () => undefined)
    },
    reset: (key) => engine.reset(steps.some(key as Key | Keys, 0)),
    block: (key, duration) => engine.block(steps.some(key as Key | Keys, 1), duration),
    unblock: (key) => engine.block(steps.some(key as Key | Keys, 1), 0),
  }
}

function admittedOrThrow<D extends Decision>(decision: D): D {
  if (!decision.allowed) throw new LimitExceeded(decision)
  return decision
}

/** Without a default object, which would be made for each request. */
export function givenCost(options: CostOption | undefined, known: CallFields = COST): number | CostByName {
  if (options === undefined) return 1
  checkCall(options, known)
  const { cost } = options
  if (cost === undefined) return 1
  return typeof cost === 'object' && cost !== null ? cost : checkedCost(cost)
}

function policyRules(
  limiter: string,
  { policies, blockable = false }: LimiterOptions<string, boolean>,
  kind: LimiterKind,
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
    rule: ruleFor(limiter, name, policy, blockable && fields.indexOf(key) === i, kind),
    field: key,
  }))
  if (rules.length > 1 && rules.some(({ rule }) => rule.prefetch !== undefined))
    throw new ConfigError('prefetch needs a limiter of one policy')
  return rules
}

function ruleFor(
  limiter: string,
  name: string,
  given: LimiterPolicy,
  blockable: boolean,
  kind: LimiterKind,
): Rule {
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
  return under(['policies', name], () => ruleOfChecked(name, namespace, kind.planOf(policy), options))
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
