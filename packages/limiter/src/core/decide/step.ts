import type { StatePlan } from './algorithm.ts'
import type { Rule } from './rule.ts'

/** One rule's part in a request: the rule, and what only this request knows. */
export interface Step {
  readonly rule: Rule
  /** Which of the rule's counters: one identity in its canonical form (core/identify/key-text.ts). */
  readonly key: string
  /** Whole, ≥ 0. */
  readonly cost: number
  /** Where the cost is from: a number of the rule's or the descriptor's own, or a measure that the rule reads. Default: the request's. */
  readonly costFrom?: 'rule' | 'measure' | undefined
  /** Shifts this key's windows by so many microseconds, so that not all keys reset at once. */
  readonly phase?: number
  /** Names the charge for `refund` where instants do not (concurrency): a random whole number ≥ 1. */
  readonly chargeId?: number
}

/** What names a state: the rule's namespace and kind, and the key. */
export type StateName = Pick<Step, 'rule' | 'key'>

/**
 * The same as one text. Namespaces and kinds hold no NUL, so no two states share it.
 * @example
 * const name = stateText(rule.namespace, rule.plan, key)
 */
export function stateText(namespace: string, { kind }: Pick<StatePlan, 'kind'>, key: string): string {
  return `${namespace}\0${kind}\0${key}`
}

/**
 * Whether a rule's charges are held until the request ends, and then released, whatever they cost.
 * @example
 * const plan = planOf({ algorithm: 'concurrency', limit: 5, period: '1m' })
 * holdsSlots({ rule: ruleOf('jobs', 'jobs', plan) }) // true
 */
export function holdsSlots({ rule }: Pick<Step, 'rule'>): boolean {
  return rule.plan.algorithm.traits.holds === true
}
