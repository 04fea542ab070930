import type { Algorithm } from './core/decide/algorithm.ts'
import type { AlgorithmName, Policy } from './core/decide/algorithms.ts'
import { type BlockOptions, blockOptions } from './core/decide/block/block.ts'
import {
  type OnLimit,
  type OnStoreError,
  onLimitCheck,
  onStoreErrorCheck,
  prefetchCheck,
  softCheck,
} from './core/decide/rule.ts'
import { flag, type OptionFields, that } from './core/options.ts'
import type { Duration } from './core/time.ts'
import type { Key, Keys } from './policy-steps.ts'

/** What a limiter's policy may say beside those of any policy. */
export interface PolicyExtras {
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

/** A policy as a limiter takes it. */
export interface LimiterPolicy extends Omit<Policy, 'algorithm'>, PolicyExtras {
  /** By its name, or as an object, such as `gcra` of @sluice/limiter/edge. */
  readonly algorithm: AlgorithmName | Algorithm
}

/** What those may be. */
export const limiterPolicyFields: OptionFields<PolicyExtras> = {
  shadow: flag,
  soft: softCheck,
  onLimit: onLimitCheck,
  onStoreError: onStoreErrorCheck,
  block: blockOptions,
  prefetch: prefetchCheck,
  key: that(
    'the name of a field of the keys, such as tenant',
    (value) => typeof value === 'string' && value !== '',
  ),
}

/** The same policies, where each literal that should be a duration is one. */
type CheckedDurationsOf<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? K extends 'period' | 'within' | 'for'
      ? Duration<T[K]>
      : T[K]
    : K extends 'algorithm'
      ? T[K]
      : T[K] extends object
        ? CheckedDurationsOf<T[K]>
        : T[K]
}

/** Policies as they are inferred, with their durations checked. */
export interface CheckedPolicies<Policies> {
  readonly policies: Policies & CheckedDurationsOf<Policies>
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
export type SomeKeyOf<Field extends string> = [Field] extends [never] ? Key : Partial<KeyOf<Field>>
