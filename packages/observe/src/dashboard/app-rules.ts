import type { Rule } from '@sluice/limiter/decide'
import { TICKS_PER_MS } from '@sluice/limiter/time'
import type { SeenPolicies, SeenPolicy } from '../seen-policies.ts'

/**
 * `GET /v1/rules` of an app: the limits that have decided a request, in the service's form.
 * @param since milliseconds since the epoch
 */
export function appRulesBody(policies: SeenPolicies, since: number): object {
  const { all } = policies
  const names = [...new Set(all.map(({ domain }) => domain))]
  const limitsOf = (name: string): object[] => all.filter(({ domain }) => domain === name).flatMap(limitBody)
  return {
    version: String(policies.size),
    since: new Date(since).toISOString(),
    domains: names.map((name) => ({ name, limits: limitsOf(name), descriptors: [] })),
    error: null,
  }
}

function limitBody({ policy, rules }: SeenPolicy): object[] {
  const rule = rules.at(-1)
  if (rule === undefined) return []
  const { plan, role, onLimit, onStoreError } = rule
  return [
    {
      name: policy,
      limit: quotaOf(rule),
      algorithm: plan.algorithm.name,
      mode: role === 'shadow' ? 'shadow' : 'enforce',
      onLimit,
      onStoreError,
      // Of a limit that differs from caller to caller, how many are known; `limit` is the last of them.
      quotas: rules.length,
    },
  ]
}

function quotaOf({ plan: { source, limit, period, unit } }: Rule): object {
  if (source !== undefined) return { limit: source.limit, period: source.period }
  return { limit, period: (period * unit) / TICKS_PER_MS }
}
