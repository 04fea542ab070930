import type { Decision, Rule } from '@sluice/limiter/decide'
import { ConfigError } from '@sluice/limiter/errors'
import { type Pipeline, UnknownDomain } from '@sluice/limiter/pipeline'
import { descriptorRules, limitRules, type Rules, stepForKey } from '@sluice/limiter/rules'
import { OperationError } from './operation-error.ts'

/** One key of one policy. */
export interface NamedKey {
  readonly domain: string
  readonly policy: string
  /** As `sluice explain` shows it. */
  readonly key: string
}

/** The figures of a key by one quota of a policy: it may have several, for plans and overrides. */
export interface KeyFigures {
  readonly decision: Decision
  /** Whether the key can be blocked by hand. */
  readonly blockable: boolean
}

/** What the key's next request of cost 1 would be answered, by each quota that the policy may have; nothing is charged. */
export async function peekKey(
  { engine }: Pipeline<boolean>,
  rules: Rules,
  { domain, policy, key }: NamedKey,
): Promise<readonly KeyFigures[]> {
  const named = rulesNamed(rules, domain, policy)
  const distinct = [
    ...new Map(named.map((rule) => [`${counterOf(rule)}\0${rule.plan.capacity}`, rule])).values(),
  ]
  return Promise.all(
    distinct.map(async (rule) => ({
      decision: await engine.decide(domain, [stepForKey(rule, key, 1)], true),
      blockable: rule.block !== undefined,
    })),
  )
}

/** Forgets what a key has used, and its blocks, by every quota of the policy. @returns the policy's name */
export async function resetKey(
  { engine }: Pipeline<boolean>,
  rules: Rules,
  { domain, policy, key }: NamedKey,
): Promise<readonly string[]> {
  await engine.reset(countersOf(rules, domain, policy).map((rule) => ({ rule, key })))
  return [policy]
}

/** Refuses a key for a duration, or (0) ends its block. */
export async function blockKey(
  { engine }: Pipeline<boolean>,
  rules: Rules,
  { domain, policy, key }: NamedKey,
  duration: number | string,
): Promise<void> {
  const states = countersOf(rules, domain, policy).map((rule) => ({ rule, key }))
  if (states.every(({ rule }) => rule.block === undefined)) {
    const name = JSON.stringify(policy)
    throw new OperationError(
      'invalid',
      `the policy ${name} cannot block: give it blockable: true, or a block, in the rulebook`,
    )
  }
  try {
    await engine.block(states, duration)
  } catch (error) {
    throw error instanceof ConfigError ? new OperationError('invalid', error.message) : error
  }
}

/** One rule for each counter: quotas of one kind share theirs. */
function countersOf(rules: Rules, domain: string, policy: string): readonly Rule[] {
  return [...new Map(rulesNamed(rules, domain, policy).map((rule) => [counterOf(rule), rule])).values()]
}

function counterOf({ namespace, plan }: Rule): string {
  return `${namespace}\0${plan.kind}`
}

function rulesNamed({ domains }: Rules, domain: string, policy: string): readonly Rule[] {
  const compiled = domains.get(domain)
  if (compiled === undefined)
    throw new UnknownDomain(`no rules are loaded for domain ${JSON.stringify(domain)}`)
  const rules = [...limitRules(compiled), ...descriptorRules(compiled)].filter(({ name }) => name === policy)
  if (rules.length === 0)
    throw new OperationError('unknown', `the domain has no policy ${JSON.stringify(policy.slice(0, 100))}`)
  return rules
}
