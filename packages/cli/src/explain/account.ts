import { type Decision, type PolicyFigures, receipt } from '@sluice/limiter/core/decide/decision'
import type { Policy } from '@sluice/limiter/core/decide/policy'
import type { Step } from '@sluice/limiter/core/decide/step'
import type { Rules } from '@sluice/limiter/core/match/compile'
import { explainDescriptors, explainRequest } from '@sluice/limiter/core/match/explain'
import { createPipeline, type Question } from '@sluice/limiter/pipeline'
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
  /** As everyone sees it who has used nothing yet. */
  readonly decision: Decision
}

/**
 * Why rules apply to a request, or do not, and what they say of it while nothing is used.
 * @throws BadQuestion
 */
export function accountOf(rules: Rules, question: Question): Account {
  const { domain, request = {}, descriptors } = question
  const { decision, matched } = createPipeline<false>({
    rules: () => rules,
    store: new MemoryStore(),
  }).handle(question, true)
  const explained =
    descriptors === undefined
      ? explainRequest(rules, domain, request)
      : explainDescriptors(rules, domain, descriptors)
  const steps = matched.steps.filter(({ role }) => role !== 'guard').values()
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
function saidOf({ plan, policy, key }: Step, decision: Decision): Pick<RuleAccount, 'plan' | 'figures'> {
  const decided = decision[receipt]?.steps.filter(({ role }) => role !== 'guard') ?? []
  const figures = decision.policies[decided.findIndex((step) => step.policy === policy && step.key === key)]
  return { ...(plan.source && { plan: plan.source }), ...(figures && { figures }) }
}
