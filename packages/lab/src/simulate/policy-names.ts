import { type CompiledDomain, descriptorRules, limitRules } from '@sluice/limiter/rules'

/** The names under which a domain's decisions report its limits: of descriptors where there are no others. */
export function policyNames(domain: CompiledDomain, byDescriptors: boolean): string[] {
  const named = byDescriptors ? [] : [...limitRules(domain)]
  const rules = named.length > 0 ? named : [...descriptorRules(domain)]
  return [...new Set(rules.map(({ name }) => name))]
}
