import { type CompiledDomain, descriptorRules, limitRules } from '@sluice/limiter/rules'

/** The names under which a domain's decisions report its limits, in one of its two formats. */
export function policyNames(domain: CompiledDomain, byDescriptors: boolean): string[] {
  const rules = byDescriptors ? descriptorRules(domain) : limitRules(domain)
  return [...new Set(rules.map(({ name }) => name))]
}
