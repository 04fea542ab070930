import { planOf } from '@sluice/limiter/core/decide/algorithms'
import type { Step } from '@sluice/limiter/core/decide/step'
import type { CompiledDomain } from '@sluice/limiter/core/match/compile'
import type {
  CompiledDescriptorLimit,
  DescriptorNode,
  Level,
} from '@sluice/limiter/core/match/descriptor-tree'
import type { Domain, Limit, Quota } from '@sluice/limiter/core/match/rule'
import { type Law, rulingOf } from '@sluice/limiter/core/match/ruling'

/** One of a policy's counters: with a key it names one state of the store. */
export type Counter = Pick<Step, 'policy' | 'plan'>

/** Every counter of the policy of that name: one for each law and period that it may go by, and its block. */
export function countersOf(compiled: CompiledDomain, domain: Domain, policy: string): Counter[] {
  const limit = domain.limits.find(({ name }) => name === policy)
  return [...ofLimit(compiled, limit), ...ofDescriptors(compiled, policy)]
}

/** Names under which a domain's policies are reported. */
export function policyNames({ limits, descriptors }: CompiledDomain): Set<string> {
  const named = descriptorLimits(descriptors).flatMap(
    ({ enforcement }) => enforcement?.ruling.subject.name ?? [],
  )
  return new Set([...limits.map(({ name }) => name), ...named])
}

function ofLimit({ limits }: CompiledDomain, limit: Limit | undefined): Counter[] {
  const law = limits.find(({ name }) => name === limit?.name)?.law
  if (limit === undefined || law === undefined) return []
  const plans = quotasOf(limit).map((quota) => rulingOf(limit, quota, limit.name, planOf).plan)
  return withBlock(law, [...new Map(plans.map((plan) => [plan.kind, plan])).values()])
}

function quotasOf({ limit, overrides }: Limit): Quota[] {
  const own = 'by' in limit ? [...Object.values(limit.plans), limit.otherwise] : [limit]
  return [...own, ...overrides.map(({ quota }) => quota)]
}

function ofDescriptors({ descriptors }: CompiledDomain, policy: string): Counter[] {
  return descriptorLimits(descriptors).flatMap(({ enforcement }) => {
    if (enforcement?.ruling.subject.name !== policy) return []
    return withBlock(enforcement.law, [enforcement.ruling.plan])
  })
}

function withBlock({ policy, guard }: Law, plans: readonly Counter['plan'][]): Counter[] {
  return [...plans, ...(guard === undefined ? [] : [guard])].map((plan) => ({ policy, plan }))
}

function descriptorLimits(level: Level): CompiledDescriptorLimit[] {
  const nodes: DescriptorNode[] = [
    ...[...level.exact.values()].flatMap((values) => [...values.values()]),
    ...level.patterns,
    ...level.keys.values(),
  ]
  return nodes.flatMap(({ limit, children }) => [
    ...(limit === undefined ? [] : [limit]),
    ...descriptorLimits(children),
  ])
}
