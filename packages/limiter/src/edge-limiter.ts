import type { Algorithm } from './core/decide/algorithm.ts'
import { type GivenPolicy, givenPolicy, planOfGiven } from './core/decide/given-algorithm.ts'
import {
  type Limiter,
  type LimiterKind,
  type LimiterOptions,
  limiterOf,
  limiterOptions,
} from './limiter-of.ts'
import {
  type CheckedPolicies,
  type FieldOf,
  type LimiterPolicy,
  limiterPolicyFields,
} from './limiter-policy.ts'
import { MapStore } from './stores/map.ts'

/** A policy that gives its algorithm as an object. */
export interface EdgePolicy extends LimiterPolicy {
  /** Such as `gcra` or `tokenBucket`: only what is imported is in the bundle. */
  readonly algorithm: Algorithm
}

/** Options of a limiter whose policies give their algorithms as objects. */
export interface EdgeLimiterOptions<Name extends string, Async extends boolean>
  extends LimiterOptions<Name, Async, EdgePolicy> {}

const KIND: LimiterKind = /* @__PURE__ */ givenKind()

function givenKind(): LimiterKind {
  return {
    options: limiterOptions(givenPolicy(limiterPolicyFields), '{ algorithm: gcra, limit: 10, period: "1s" }'),
    planOf: (policy) => planOfGiven(policy as GivenPolicy),
    newStore: () => new MapStore(),
  }
}

/**
 * The same as createLimiter of @sluice/limiter, in less than half the code: algorithms are imported, not named, and
 * counters are in a MapStore unless another store is given.
 * @throws ConfigError for a policy that is wrong or cannot be kept exactly
 * @example
 * const limiter = createLimiter({ policies: { api: { algorithm: gcra, limit: 10, period: '1s' } } })
 * const { allowed, retryAfterMs } = limiter.check('ada')
 */
export function createLimiter<
  const Policies extends Readonly<Record<string, EdgePolicy>>,
  Async extends boolean = false,
>(
  options: EdgeLimiterOptions<keyof Policies & string, Async> & CheckedPolicies<Policies>,
): Limiter<keyof Policies & string, Async, FieldOf<Policies>>
export function createLimiter<Async extends boolean>(
  options: EdgeLimiterOptions<string, Async>,
): Limiter<string, Async, string> {
  return limiterOf(KIND, options)
}
