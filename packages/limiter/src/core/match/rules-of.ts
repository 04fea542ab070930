import type { Rule } from '../decide/rule.ts'
import type { CompiledDomain } from './compiled-rules.ts'
import type { DescriptorNode, Level } from './descriptor-tree.ts'

/**
 * Every rule that a domain's limits may go by, in rule order: their own, and those of plans and overrides.
 * @example
 * limitRules(rules.domains.get('shop')!).map(({ name }) => name)
 */
export function limitRules({ limits }: CompiledDomain): readonly Rule[] {
  return limits.flatMap(({ rules }) => rules)
}

/**
 * Every rule of a domain's descriptors, in the order of the tree.
 * @example
 * descriptorRules(rules.domains.get('shop')!).map(({ name }) => name)
 */
export function descriptorRules({ descriptors }: CompiledDomain): readonly Rule[] {
  return rulesBelow(descriptors)
}

function rulesBelow({ exact, patterns, keys }: Level): Rule[] {
  const nodes: DescriptorNode[] = [
    ...[...exact.values()].flatMap((values) => [...values.values()]),
    ...patterns,
    ...keys.values(),
  ]
  return nodes.flatMap(({ limit, children }) => [
    ...(limit?.rule === undefined ? [] : [limit.rule]),
    ...rulesBelow(children),
  ])
}
