import type { Descriptor, Domain } from '@sluice/limiter/rules'

/** What the rules of a domain say themselves of attributes and descriptors. */
export interface NamedValues {
  /** Values without which rules could not be replayed, and which anyone knows who knows the rules. */
  readonly values: ReadonlySet<string>
  /** Attributes that are a cost. */
  readonly costs: ReadonlySet<string>
}

/** Values that a domain's rules name: plans, exempt keys, overrides, values of descriptors. */
export function namedValues({ limits, descriptors }: Domain): NamedValues {
  const values = new Set<string>()
  const costs = new Set<string>()
  for (const { limit, exempt, overrides, cost } of limits) {
    if ('by' in limit) for (const plan of Object.keys(limit.plans)) values.add(plan)
    for (const each of exempt) values.add(each)
    for (const { match } of overrides) values.add(match)
    if (typeof cost === 'string') costs.add(cost.replace(/^attribute:/, ''))
  }
  const walk = (nodes: readonly Descriptor[]): void => {
    for (const node of nodes) {
      if (node.value !== undefined) values.add(node.value)
      walk(node.descriptors)
    }
  }
  walk(descriptors)
  return { values, costs }
}
