import {
  type Descriptor,
  type Domain,
  type Entry,
  type Limit,
  matchDescriptors,
  matchRequest,
  type Rules,
} from '@sluice/limiter/rules'

/** The body of a check that meets a rule. */
export interface Sample {
  readonly rule: string
  readonly body: {
    readonly domain: string
    readonly request?: SampleRequest
    readonly descriptors?: readonly { readonly entries: readonly Entry[] }[]
  }
}

interface SampleRequest {
  readonly method?: string
  readonly path?: string
  readonly host?: string
  readonly ip?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly attributes?: Readonly<Record<string, string>>
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

/** From the ranges of addresses that are kept for documentation (RFC 5737). */
const EXAMPLE_ADDRESS = '203.0.113.7'

function requestFor({ when = {}, key }: Limit): SampleRequest {
  const headers = firsts(when.header)
  const query = firsts(when.query)
  const attributes = new Map<string, string>()
  for (const part of key) {
    const [, kind = '', name = ''] = /^([a-z-]+)[^:|]*(?::(.+?))?(?:\|fold)?$/s.exec(part) ?? []
    if (kind === 'header') addTo(headers, name.toLowerCase())
    else if (kind === 'cookie') headers.set('cookie', `${name}=example`)
    else if (kind === 'query') addTo(query, name)
    else if (kind === 'param') attributes.set(`param:${name}`, 'example')
    else if (kind === 'attribute') attributes.set(name, 'example')
    else if (!['ip', 'path', 'method', 'host'].includes(kind)) attributes.set(kind, 'example')
  }
  const host =
    when.host?.[0]?.replaceAll('*', 'example') ?? (key.includes('host') ? 'shop.example' : undefined)
  return {
    method: when.method?.[0] ?? 'GET',
    path: when.path === undefined ? '/' : pathFor(when.path[0]!),
    ...(host !== undefined && { host }),
    ip: when.ip?.[0]?.replace(/\/.*/, '') ?? EXAMPLE_ADDRESS,
    ...(headers.size > 0 && { headers: Object.fromEntries(headers) }),
    ...(query.size > 0 && { query: Object.fromEntries(query) }),
    ...(attributes.size > 0 && { attributes: Object.fromEntries(attributes) }),
  }
}

function firsts(wanted: Readonly<Record<string, readonly string[]>> = {}): Map<string, string> {
  return new Map(Object.entries(wanted).map(([name, values]) => [name, values[0]!]))
}

function addTo(map: Map<string, string>, name: string): void {
  if (!map.has(name)) map.set(name, 'example')
}

/** `/shops/:id/**` is met by `/shops/example/example`. */
function pathFor(glob: string): string {
  return glob
    .split('/')
    .map((segment) => (segment.startsWith(':') ? 'example' : segment.replace(/\*+/g, 'example')))
    .join('/')
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
