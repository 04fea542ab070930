import { type RuleRequest, requestFor } from '@sluice/lab/rule-request'
import {
  type Descriptor,
  type Domain,
  type Entry,
  matchDescriptors,
  matchRequest,
  type Rules,
} from '@sluice/limiter/rules'

/** The body of a check that meets a rule. */
export interface Sample {
  readonly rule: string
  readonly body: {
    readonly domain: string
    readonly request?: Partial<RuleRequest>
    readonly descriptors?: readonly { readonly entries: readonly Entry[] }[]
  }
}

/** Checks to try with the rules just loaded: for each domain the first limit and the first descriptor that can be met. */
export function samplesOf(domains: readonly Domain[], rules: Rules): Sample[] {
  return domains.flatMap((domain) => [...limitSample(domain, rules), ...descriptorSample(domain, rules)])
}

function limitSample({ name: domain, limits }: Domain, rules: Rules): Sample[] {
  for (const limit of limits) {
    const request = requestFor(limit)
    const { steps } = matchRequest(rules, domain, request)
    if (steps.some(({ rule: { name } }) => name === limit.name))
      return [{ rule: limit.name, body: { domain, request } }]
  }
  return []
}

function descriptorSample({ name: domain, descriptors }: Domain, rules: Rules): Sample[] {
  for (const entries of pathsTo(descriptors, [])) {
    const [status] = matchDescriptors(rules, domain, [{ entries }]).statuses
    if (status?.limit !== undefined && status.step >= 0) {
      return [
        {
          rule: status.limit.statsKey.slice(domain.length + 1),
          body: { domain, descriptors: [{ entries }] },
        },
      ]
    }
  }
  return []
}

function* pathsTo(descriptors: readonly Descriptor[], above: readonly Entry[]): Generator<Entry[]> {
  for (const { key, value, rateLimit, descriptors: below } of descriptors) {
    const entries = [...above, { key, value: value?.replaceAll('*', 'example') || 'example' }]
    if (rateLimit !== undefined) yield entries
    yield* pathsTo(below, entries)
  }
}
