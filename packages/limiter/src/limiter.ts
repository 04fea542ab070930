import { aheadOf, checkLease } from './core/decide/ahead.ts'
import { planOf } from './core/decide/algorithms.ts'
import { blockPlan } from './core/decide/block/block.ts'
import { type Decision, receipt, type Subject } from './core/decide/decision.ts'
import type { Policy } from './core/decide/policy.ts'
import type { Step } from './core/decide/step.ts'
import { windowSecondsOf } from './core/decide/window-seconds.ts'
import { ConfigError } from './core/errors.ts'
import { escaped } from './core/identify/compose.ts'
import { ticksOf } from './core/time.ts'
import { type Asked, checkedCost, decide, next, settle } from './engine.ts'
import { LimitExceeded } from './limit-exceeded.ts'
import { type Reservation, reservationOf } from './reservation.ts'
import { MemoryStore } from './stores/memory.ts'
import type { Answer, Store } from './stores/store.ts'

/** A policy as a limiter takes it. */
export interface LimiterPolicy extends Policy {
  /** Decides and reports, never refuses. */
  readonly shadow?: boolean
  /** Share of the limit in use, 0–1, from which decisions are marked `soft`. */
  readonly soft?: number
  /** What becomes of a request while the store is slow or gone, where it is a FallbackStore. Default `open`. */
  readonly onStoreError?: 'open' | 'closed' | 'local'
  /** After so many refusals within a time, refuse everything for a time. */
  readonly block?: { readonly after: number; readonly within: number | string; readonly for: number | string }
  /**
   * Units that each node may take ahead, where the store is a PrepaidStore: a whole number ≥ 2, of which the capacity
   * counts at most. Only in a limiter of one policy: several are decided as one, by the store.
   */
  readonly lease?: number
}

export interface LimiterOptions<Name extends string, Async extends boolean> {
  /** Keeps this limiter's counters apart from others' in the same store. Default `limiter`. */
  readonly name?: string
  /** By name; a request must fit all of them. */
  readonly policies: Readonly<Record<Name, LimiterPolicy>>
  /** Default: a MemoryStore of its own, which answers at once, without a promise. */
  readonly store?: Store<Async>
  /** Lets `block` refuse a key by hand, at the price of one more look-up for each decision. */
  readonly blockable?: boolean
}

/** Whose quota: one text, or parts that are joined so that no two lists meet. */
export type Key = string | readonly string[]

interface CostOption {
  /** Whole, 0 to 2^53−1; default 1. 0 looks, and writes nothing. */
  readonly cost?: number
}

/**
 * Limits by key. With a store in process every verb answers at once; with a shared one, by promise.
 * A refusal is a value; a wrong `cost` or key is a TypeError.
 */
export interface Limiter<Name extends string = string, Async extends boolean = false> {
  /** Decides, and charges every policy if all admit. */
  check(key: Key, options?: CostOption): Answer<Async, Decision>
  /** As `check`, but a refusal is thrown (or rejects) as LimitExceeded. */
  limitOrThrow(key: Key, options?: CostOption): Answer<Async, Decision>
  /** What `check` would say; changes nothing. */
  peek(key: Key, options?: CostOption): Answer<Async, Decision>
  /** As `check`, to be settled later by `commit` or `cancel`. */
  reserve(key: Key, options?: CostOption & ReserveOptions): Answer<Async, Reservation<Async>>
  /**
   * Gives back what a decision charged, or `amount` of it: never above capacity, and only in the window in which it
   * was charged.
   */
  refund(decision: Decision, amount?: number): Answer<Async, void>
  /** Forgets all that a key has used. */
  reset(key: Key): Answer<Async, void>
  /** Refuses a key for `duration` (milliseconds or text), whatever it has used. Needs `blockable`. */
  block(key: Key, duration: number | string): Answer<Async, void>
  /** Ends a block. */
  unblock(key: Key): Answer<Async, void>
  readonly policies: Readonly<Record<Name, LimiterPolicy>>
}

interface ReserveOptions {
  /** How long the reservation can be settled: milliseconds or text, default `1m`. Unsettled, the estimate stands. */
  readonly ttl?: number | string
}

/** @throws ConfigError for a policy that means nothing or cannot be kept exactly. */
export function createLimiter<const Name extends string, Async extends boolean = false>(
  options: LimiterOptions<Name, Async>,
): Limiter<Name, Async> {
  const { name = 'limiter', policies, blockable = false } = options
  const store = options.store ?? (new MemoryStore() as Store<boolean> as Store<Async>)
  const parts = Object.entries<LimiterPolicy>(policies).flatMap(([policy, given], i) =>
    partsOf(`${name}/${policy}`, policy, given, blockable && i === 0),
  )
  if (parts.length === 0) throw new ConfigError('a limiter needs at least one policy')
  if (parts.length > 1 && parts.some(({ ahead }) => ahead !== undefined))
    throw new ConfigError('a lease goes with one policy, and neither with block nor with blockable')
  const subjects = parts.map(({ subject }) => subject)

  const ask = (key: Key, cost: number): Asked => {
    const identity = identityOf(key)
    const steps = parts.length === 1 ? [stepOf(parts[0]!, identity, cost)] : stepsOf(parts, identity, cost)
    return { steps, subjects }
  }
  const guard = (key: Key): Step => {
    const part = parts.find(({ role }) => role === 'guard')
    if (part === undefined) throw new ConfigError('to block a key, create the limiter with blockable: true')
    return stepOf(part, identityOf(key), 1)
  }
  const done = () => undefined

  return {
    policies,
    check: (key, { cost = 1 } = {}) => decide(store, ask(key, checkedCost(cost)), false),
    limitOrThrow: (key, { cost = 1 } = {}) =>
      next(decide(store, ask(key, checkedCost(cost)), false), (decision) => {
        if (!decision.allowed) throw new LimitExceeded(decision)
        return decision
      }),
    peek: (key, { cost = 1 } = {}) => decide(store, ask(key, checkedCost(cost)), true),
    reserve(key, { cost = 1, ttl = '1m' } = {}) {
      const lifetime = ticksOf(ttl)
      return next(decide(store, ask(key, checkedCost(cost)), false), (decision) =>
        reservationOf(store, decision, lifetime),
      )
    },
    refund(decision, amount) {
      const left = decision[receipt]
      if (left === undefined) throw new TypeError('only a decision of a limiter can be refunded')
      const given = amount === undefined ? undefined : checkedCost(amount)
      const answer = settle(store, left, ({ cost }) => Math.max(0, cost - (given ?? cost)))
      return next(answer, done)
    },
    reset(key) {
      const answers = ask(key, 0).steps.map((step) => store.reset(step))
      return (
        answers.some((answer) => answer instanceof Promise) ? Promise.all(answers).then(done) : undefined
      ) as Answer<Async, void>
    },
    block(key, duration) {
      const change = ticksOf(duration)
      return next(store.settle([{ step: guard(key), at: 0, change }]), done)
    },
    unblock: (key) => next(store.settle([{ step: guard(key), at: 0, change: -1 }]), done),
  }
}

/** What a policy adds to every request: the same but for the key and the cost. */
interface Part extends Pick<Step, 'plan' | 'policy' | 'role' | 'onStoreError' | 'ahead' | 'watches'> {
  readonly subject: Subject
}

function partsOf(policy: string, name: string, given: LimiterPolicy, blockable: boolean): Part[] {
  checkName(name)
  const { soft, block, shadow, onStoreError, lease } = given
  if (soft !== undefined && !(soft > 0 && soft <= 1))
    throw new ConfigError(`soft must lie in 0–1, not ${soft}`)
  const plan = planOf(given)
  const windowSeconds = windowSecondsOf(plan)
  const subject: Subject = {
    name,
    ...(windowSeconds === undefined ? undefined : { windowSeconds }),
    ...(soft === undefined ? undefined : { soft }),
  }
  const shared = { subject, onStoreError }
  const role = shadow ? 'shadow' : 'enforce'
  if (lease !== undefined) checkLease(lease, { algorithm: given.algorithm, role, guarded: false })
  const own: Part = { plan, policy, role, watches: undefined, ahead: aheadOf(lease, plan), ...shared }
  if (block === undefined && !blockable) return [own]
  const guard = {
    plan: blockPlan(block ?? BY_HAND),
    policy: `${policy}/block`,
    role: 'guard' as const,
    ahead: undefined,
    ...shared,
  }
  // A guard's place in the list is not known here: 0 says that it is told, engine.ts says of whom.
  return [own, { ...guard, watches: block === undefined ? undefined : 0 }]
}

/** A guard that nothing but `block` ever sets. */
const BY_HAND = { after: 1, within: 1, for: 1 }

function stepOf({ plan, policy, role, watches, onStoreError, ahead }: Part, key: string, cost: number): Step {
  const own = role === 'guard' && cost > 1 ? 1 : cost
  return { plan, policy, key, cost: own, role, watches, onStoreError, ahead }
}

function stepsOf(parts: readonly Part[], key: string, cost: number): Step[] {
  return parts.map((part) => stepOf(part, key, cost))
}

/** Lists of parts begin with NUL; so do texts that begin with it, so that a text never meets a list. */
function identityOf(key: Key): string {
  if (typeof key === 'string') return key.charCodeAt(0) === 0 ? `\0${escaped(key)}` : key
  if (Array.isArray(key) && key.length > 0 && key.every((part) => typeof part === 'string'))
    return `\0${key.map(escaped).join('|')}`
  throw new TypeError('a key must be text, or a list of texts: who lacks one needs a decision of yours')
}

function checkName(name: string): void {
  if (/^[\x20-\x7e]{1,64}$/.test(name)) return
  throw new ConfigError(
    `a policy's name must be 1 to 64 printable ASCII characters, not ${JSON.stringify(name)}`,
  )
}
