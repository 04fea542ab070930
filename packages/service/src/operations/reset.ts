import type { Rule, StateName } from '@sluice/limiter/decide'
import { type Pipeline, type Question, UnknownDomain } from '@sluice/limiter/pipeline'
import { descriptorRules, limitRules, type Rules } from '@sluice/limiter/rules'
import { OperationError } from './operation-error.ts'

/** Forgets what a request's keys have used, and their blocks. @returns the names of the policies */
export async function resetRequest(
  pipeline: Pipeline<boolean>,
  question: Question,
): Promise<readonly string[]> {
  return pipeline.reset(question)
}

/**
 * The same for one key of one policy, by every quota that it may have.
 * @param key as `sluice explain` shows it
 */
export async function resetPolicy(
  pipeline: Pipeline<boolean>,
  { domains }: Rules,
  domain: string,
  policy: string,
  key: string,
): Promise<readonly string[]> {
  const compiled = domains.get(domain)
  if (compiled === undefined)
    throw new UnknownDomain(`no rules are loaded for domain ${JSON.stringify(domain)}`)
  const rules = [...limitRules(compiled), ...descriptorRules(compiled)].filter(({ name }) => name === policy)
  if (rules.length === 0)
    throw new OperationError('unknown', `the domain has no policy ${JSON.stringify(policy.slice(0, 100))}`)
  await pipeline.engine.reset(distinctRules(rules).map((rule): StateName => ({ rule, key })))
  return [policy]
}

/** Quotas of one kind share their counters. */
function distinctRules(rules: readonly Rule[]): readonly Rule[] {
  const byCounter = new Map(rules.map((rule) => [`${rule.namespace}\0${rule.plan.kind}`, rule]))
  return [...byCounter.values()]
}
