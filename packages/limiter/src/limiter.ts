import { type Policy, planOf, policyWith } from './core/decide/algorithms.ts'
import { type GivenPolicy, givenPolicy, planOfGiven } from './core/decide/given-algorithm.ts'
import type { OptionCheck } from './core/options.ts'
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
import { shortForms } from './short-forms.ts'
import { MemoryStore } from './stores/memory.ts'

export type { CostOption, DecisionBy, Limiter, LimiterOptions, ReserveOptions } from './limiter-of.ts'
export { type LimiterPolicy, limiterPolicyFields } from './limiter-policy.ts'

/** Policies that name their algorithm, and those that give it. */
const KIND: LimiterKind = /* @__PURE__ */ namedKind()

function namedKind(): LimiterKind {
  const named = policyWith(limiterPolicyFields)
  const given = givenPolicy(limiterPolicyFields)
  const policy: OptionCheck = (value, path) =>
    (hasObject(value as Partial<LimiterPolicy> | undefined) ? given : named)(value, path)
  return {
    options: limiterOptions(policy, '{ algorithm: "token-bucket", limit: 10, period: "1s" }'),
    planOf: (policy) => (hasObject(policy) ? planOfGiven(policy as GivenPolicy) : planOf(policy as Policy)),
    newStore: () => new MemoryStore(),
    short: shortForms,
  }
}

function hasObject(policy: Partial<LimiterPolicy> | null | undefined): boolean {
  return typeof policy?.algorithm === 'object'
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
  return limiterOf(KIND, options)
}
