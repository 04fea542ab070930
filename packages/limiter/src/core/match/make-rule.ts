import type { Plan } from '../decide/algorithm.ts'
import { algorithmOptions, type Policy, planOf } from '../decide/algorithms.ts'
import { type Rule, type RuleOptions, ruleOf } from '../decide/rule.ts'
import type { Step } from '../decide/step.ts'
import { ConfigError, type Position } from '../errors.ts'
import { hashToUnit } from '../identify/hash-to-unit.ts'
import type { LimitOptions, Quota } from './domain.ts'
import { made } from './made.ts'

/** What a rule is made of, in whichever format it was written. */
export interface RuleSource {
  readonly options: LimitOptions
  /** As clients see it. */
  readonly name: string
  /** Of its counters. */
  readonly namespace: string
  /** Refuses only together with every other quota of the request. */
  readonly quota?: boolean | undefined
  /** Units of each request, where the rule states them. */
  readonly cost?: number | undefined
}

/** Makes the rule of one quota. @throws ConfigError as {@link makeRule} does */
export type RuleMaker = (source: RuleSource, own: Quota) => Rule

/** Makes rules that are alike but for their names once: of thousands, there are a few. Equal policies have one plan. */
export function ruleMaker(): RuleMaker {
  const plans = new Map<string, Plan>()
  const rules = new Map<string, Rule>()
  const planFor = (policy: Policy): Plan => made(plans, JSON.stringify(policy), () => planOf(policy))
  return (source, own) => {
    const { options, name, namespace, quota, cost } = source
    const id = JSON.stringify([policyOf(options, own), ruleOptionsOf(options), quota, cost])
    const like = rules.get(id)
    if (like !== undefined) return { ...like, name, namespace }
    const rule = makeRule(source, own, planFor)
    rules.set(id, rule)
    return rule
  }
}

/**
 * The rule of one quota.
 * @throws ConfigError when the quota cannot be kept, or its options are wrong or contradict each other
 * @example
 * const source = { options, name: 'login', namespace: 'shop/login' }
 * const rule = makeRule(source, { limit: 5, period: '1m' })
 */
export function makeRule(
  { options, name, namespace, quota, cost }: RuleSource,
  own: Quota,
  planFor: (policy: Policy) => Plan = planOf,
): Rule {
  return ruleOf(name, namespace, planFor(policyOf(options, own)), { ...ruleOptionsOf(options), quota, cost })
}

function policyOf(options: LimitOptions, own: Quota): Policy {
  return { ...algorithmSettingsOf(options), ...own }
}

/**
 * The algorithm of a limit and that algorithm's own options, as a policy gives them.
 * @example
 * const plan = planOf({ ...algorithmSettingsOf(options), limit: 5, period: '1m' })
 */
export function algorithmSettingsOf(options: LimitOptions): Pick<Policy, 'algorithm'> {
  const settings: Record<string, unknown> = { algorithm: options.algorithm }
  for (const name of algorithmOptions.keys()) if (options[name] !== undefined) settings[name] = options[name]
  return settings as Pick<Policy, 'algorithm'>
}

/**
 * How a limit deals with requests, whatever its quota: what it says beside its algorithm and that one's own options.
 * @example
 * const wrong = ruleErrors(plan, ruleOptionsOf(options))
 */
export function ruleOptionsOf(options: LimitOptions): RuleOptions {
  const {
    onLimit,
    mode,
    onStoreError,
    soft,
    block,
    blockable,
    jitter,
    spread,
    retryAfter,
    tarpit,
    prefetch,
    assign,
  } = options
  return {
    onLimit,
    mode,
    onStoreError,
    soft,
    block,
    blockable,
    jitter,
    spread,
    retryAfter,
    tarpit,
    prefetch,
    assign,
  }
}

/**
 * A rule's part in a request for one key, as rules are matched: where the windows of keys are spread, with its phase.
 * @example
 * const step = stepForKey(rule, '192.0.2.1', 1)
 */
export function stepForKey(rule: Rule, key: string, cost: number): Step {
  return stepOf(rule, key, cost)
}

/** A rule's part in a request; where the windows of keys are spread, with the key's own phase. */
export function stepOf(rule: Rule, key: string, cost: number, costFrom?: Step['costFrom']): Step {
  if (rule.spread === 0) return { rule, key, cost, costFrom }
  return { rule, key, cost, costFrom, phase: Math.floor(hashToUnit(key, 0) * rule.spread) }
}

/** Runs `make`; a ConfigError in it names the rule and where it stands. */
export function naming<T>(what: string, source: Position | undefined, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const where = source === undefined ? '' : `${source.file}:${source.line}:${source.column}: `
    throw new ConfigError(`${where}${what}: ${error.message}`, {
      cause: error,
      ...(error.path && { path: error.path }),
    })
  }
}
