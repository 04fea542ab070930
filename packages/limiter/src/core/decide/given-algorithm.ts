import { type OptionCheck, type OptionFields, objectOf, that } from '../options.ts'
import type { Algorithm, Plan } from './algorithm.ts'
import { type NoOptions, optionCheck } from './option.ts'
import { type BasePolicy, basePolicyFields, POLICY_NAMES } from './policy.ts'

/** A policy that gives its algorithm as the object that it is, rather than by name. */
export type GivenPolicy = Omit<BasePolicy, 'algorithm'> & { readonly algorithm: Algorithm }

const METHODS = ['plan', 'remaining', 'wait', 'charge', 'refund'] as const

function isAlgorithm(value: unknown): value is Algorithm {
  if (typeof value !== 'object' || value === null) return false
  const { name, traits, options } = value as Partial<Algorithm>
  return (
    typeof name === 'string' &&
    typeof traits === 'object' &&
    typeof options === 'object' &&
    METHODS.every((method) => typeof (value as Record<string, unknown>)[method] === 'function')
  )
}

const ALGORITHM = that('an algorithm, such as gcra or tokenBucket of @sluice/limiter/edge', isAlgorithm)

/**
 * A check of policies that give their algorithm as an object: an option that it does not take is an unknown name.
 * @param more checks for what else a policy may say
 */
export function givenPolicy(more: Readonly<Record<string, OptionCheck>>): OptionCheck {
  return (value, path) => {
    const algorithm = (value as Partial<GivenPolicy> | null | undefined)?.algorithm
    const own = isAlgorithm(algorithm) ? Object.entries(algorithm.options) : []
    return objectOf<GivenPolicy>(
      {
        ...basePolicyFields,
        ...more,
        ...Object.fromEntries(own.map(([name, option]) => [name, optionCheck(option)])),
        algorithm: ALGORITHM,
      } as OptionFields<GivenPolicy>,
      ['algorithm', 'limit', 'period'],
      { what: 'a policy, such as { algorithm: gcra, limit: 10, period: "1s" }', instead: POLICY_NAMES },
    )(value, path)
  }
}

/**
 * The plan of such a policy, which was checked.
 * @throws ConfigError where the policy cannot be kept exactly
 */
export function planOfGiven(policy: GivenPolicy): Plan {
  const named = { ...policy, algorithm: policy.algorithm.name }
  const algorithm = policy.algorithm as Algorithm<Plan, NoOptions>
  return { ...algorithm.plan(named), source: named }
}
