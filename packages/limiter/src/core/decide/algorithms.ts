import { ConfigError, errorsOf } from '../errors.ts'
import { checkOptions, type OptionCheck, type OptionFields, objectOf, oneOf } from '../options.ts'
import type { Algorithm, Plan } from './algorithm.ts'
import { concurrency } from './concurrency/concurrency.ts'
import { fixedWindow } from './fixed-window/fixed-window.ts'
import { gcra } from './gcra/gcra.ts'
import { leakyBucket } from './leaky-bucket/leaky-bucket.ts'
import { type Option, type OptionValues, optionCheck } from './option.ts'
import { type BasePolicy, basePolicyFields, POLICY_NAMES } from './policy.ts'
import { slidingWindowCounter } from './sliding-window-counter/sliding-window-counter.ts'
import { slidingWindowLog } from './sliding-window-log/sliding-window-log.ts'
import { tokenBucket } from './token-bucket/token-bucket.ts'

/** Every algorithm by its name. A new one is a folder beside this file, a line here and a line below. */
export interface Algorithms {
  readonly 'token-bucket': typeof tokenBucket
  readonly gcra: typeof gcra
  readonly 'leaky-bucket': typeof leakyBucket
  readonly 'fixed-window': typeof fixedWindow
  readonly 'sliding-window-log': typeof slidingWindowLog
  readonly 'sliding-window-counter': typeof slidingWindowCounter
  readonly concurrency: typeof concurrency
}

export const algorithms: Algorithms = {
  'token-bucket': tokenBucket,
  gcra,
  'leaky-bucket': leakyBucket,
  'fixed-window': fixedWindow,
  'sliding-window-log': slidingWindowLog,
  'sliding-window-counter': slidingWindowCounter,
  concurrency,
}

export type AlgorithmName = keyof Algorithms

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never
type OptionsOfAll = Intersection<Algorithms[AlgorithmName]['options']>

/** The options of all algorithms, as a policy gives them. */
export type AlgorithmSettings = OptionValues<OptionsOfAll>

/** `limit` units per `period`, by an algorithm and its options. A {@link Plan} is made of it once. */
export type Policy = BasePolicy & { readonly algorithm: AlgorithmName } & AlgorithmSettings

/** An option, and the names of the algorithms that take it. */
export interface OptionUse {
  readonly option: Option
  readonly algorithms: readonly AlgorithmName[]
}

/** Every option of any algorithm, by its name in a policy. */
export const algorithmOptions: ReadonlyMap<keyof AlgorithmSettings, OptionUse> =
  /* @__PURE__ */ optionsByName()

function optionsByName(): Map<keyof AlgorithmSettings, OptionUse> {
  const uses = new Map<keyof AlgorithmSettings, OptionUse>()
  for (const [algorithm, { options }] of entriesOf(algorithms)) {
    for (const [name, option] of entriesOf(options as OptionsOfAll)) {
      uses.set(name, { option, algorithms: [...(uses.get(name)?.algorithms ?? []), algorithm] })
    }
  }
  return uses
}

function entriesOf<T extends object>(object: T): [keyof T, T[keyof T]][] {
  return Object.entries(object) as [keyof T, T[keyof T]][]
}

/** What the fields of a policy may be. */
export const policyFields: OptionFields<Policy> = /* @__PURE__ */ fieldsOfPolicy()

function fieldsOfPolicy(): OptionFields<Policy> {
  const options = [...algorithmOptions].map(([name, { option }]) => [name, optionCheck(option)])
  return {
    algorithm: oneOf(...Object.keys(algorithms)),
    ...basePolicyFields,
    ...(Object.fromEntries(options) as OptionFields<AlgorithmSettings>),
  }
}

/**
 * An object with a policy's fields, and with more.
 * @example
 * const POLICY = policyWith({ shadow: flag })
 */
export function policyWith(more: Readonly<Record<string, OptionCheck>>): OptionCheck {
  return objectOf<Policy>({ ...policyFields, ...more }, ['algorithm', 'limit', 'period'], {
    what: 'a policy, such as { algorithm: "token-bucket", limit: 10, period: "1s" }',
    instead: POLICY_NAMES,
  })
}

const POLICY = /* @__PURE__ */ policyWith({})

/**
 * Validates a policy and turns it into integers, once.
 * @throws ConfigError that names the field (`path`)
 * @example
 * const plan = planOf({ algorithm: 'token-bucket', limit: 10, period: '1s' })
 * plan.capacity // 10
 */
export function planOf(policy: Policy): Plan {
  checkOptions(policy, POLICY)
  const [error] = optionErrors(policy)
  if (error !== undefined) throw error
  return { ...algorithmOf(policy.algorithm).plan(policy), source: policy }
}

/**
 * What is wrong with the algorithm of a policy and its options, one error for each; limit and period are not looked at.
 * An option that the algorithm would silently ignore is an error.
 * @example
 * const [error] = optionErrors({ algorithm: 'gcra', refill: 'interval' })
 * error?.message // '"refill" is not supported by gcra'
 */
export function optionErrors(policy: Pick<Policy, 'algorithm'> & AlgorithmSettings): readonly ConfigError[] {
  return errorsOf([
    () => {
      algorithmOf(policy.algorithm)
    },
    ...[...algorithmOptions.keys()]
      .filter((known) => policy[known] !== undefined)
      .map((known) => () => checkKnown(known, policy)),
  ])
}

function checkKnown(
  known: keyof AlgorithmSettings,
  policy: Pick<Policy, 'algorithm'> & AlgorithmSettings,
): void {
  if (!Object.hasOwn(algorithms, policy.algorithm)) return
  const { name, options } = algorithmOf(policy.algorithm)
  if (Object.hasOwn(options, known)) checkOptions(policy[known], optionCheck(options[known]), known)
  else throw new ConfigError(`"${known}" is not supported by ${name}`, { path: [known] })
}

/**
 * The policy that a plan was made of, to make another like it. @throws TypeError for a plan not made by {@link planOf}
 * @example
 * const twice = planOf({ ...policyOf(plan), limit: 2 * plan.limit })
 */
export function policyOf({ source }: Plan): Policy {
  if (source === undefined) throw new TypeError('the plan was not made of a policy')
  return source as Policy
}

/** An algorithm that may have any option: which of them it has is checked. */
type AnyAlgorithm = Algorithm<Plan, OptionsOfAll>

function algorithmOf(name: AlgorithmName): AnyAlgorithm {
  if (Object.hasOwn(algorithms, name)) return algorithms[name] as Algorithm as AnyAlgorithm
  throw new ConfigError(
    `no algorithm is named ${JSON.stringify(name)}; there are ${Object.keys(algorithms).join(', ')}`,
    { path: ['algorithm'] },
  )
}
