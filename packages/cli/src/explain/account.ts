import type { Decision, PolicyFigures } from '@sluice/limiter'
import { type Policy, policyOf } from '@sluice/limiter/algorithms'
import { receiptOf, type Step } from '@sluice/limiter/decide'
import { createPipeline, type Question } from '@sluice/limiter/pipeline'
import { explainDescriptors, explainRequest, type Rules } from '@sluice/limiter/rules'
import { MemoryStore } from '@sluice/limiter/stores/memory'

/** A rule, whether it applies, and what it would say to the first request of its key. */
export interface RuleAccount {
  readonly rule: string
  readonly applies: boolean
  /** Why it does not. */
  readonly reason?: string
  readonly key?: string
  readonly plan?: Policy
  readonly figures?: PolicyFigures
}

export interface Account {
  readonly domain: string
  readonly rules: readonly RuleAccount[]
  /** While nothing is used, or what was decided in the past. */
  readonly decision: Decision
}

/**
 * Why rules apply to a request, or do not, and what they say of it while nothing is used.
 * @throws BadQuestion
 */
export function accountOf(rules: Rules, question: Question): Account {
  const pipeline = createPipeline<false>({ rules: () => rules, store: new MemoryStore() })
  const { decision, matched } = pipeline.peek(question)
  return accountOfDecision(rules, question, matched.steps, decision)
}

/** The same of a question that was decided. @param matched the steps that rules found in it */
export function accountOfDecision(
  rules: Rules,
  { domain, request = {}, descriptors }: Question,
  matched: readonly Step[],
  decision: Decision,
): Account {
  const explained =
    descriptors === undefined
      ? explainRequest(rules, domain, request)
      : explainDescriptors(rules, domain, descriptors)
  const steps = matched.values()
  return {
    domain,
    decision,
    rules: explained.map(({ rule, applies, reason, key }) => {
      const step = applies ? steps.next().value : undefined
      if (step === undefined) return { rule, applies, reason }
      return { rule, applies, ...(key !== undefined && { key }), ...saidOf(step, decision) }
    }),
  }
}

/** Steps that charge one state were decided as one. */
function saidOf({ rule, key }: Step, decision: Decision): Pick<RuleAccount, 'plan' | 'figures'> {
  const decided = receiptOf(decision)?.steps ?? []
  const i = decided.findIndex((step) => step.rule.namespace === rule.namespace && step.key === key)
  const figures = decision.policies[i]
  return { plan: policyOf(rule.plan), ...(figures && { figures }) }
}
