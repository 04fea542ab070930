import type { Limit } from '@sluice/limiter/rules'

/** The parts of a request that rules read. */
export interface RuleRequest {
  readonly method: string
  readonly path: string
  readonly host?: string
  readonly ip: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly attributes?: Readonly<Record<string, string>>
}

/** Who asks: what stands in the parts of the key. */
export interface RuleCaller {
  readonly ip: string
  readonly name: string
}

/** From the ranges of addresses that are kept for documentation (RFC 5737). */
const EXAMPLE: RuleCaller = { ip: '203.0.113.7', name: 'example' }

/**
 * A request that meets a limit, as far as one can be made up: its conditions by their first alternatives.
 * @example
 * requestFor(domain.limits[0]) // { method: 'POST', path: '/login', ip: '203.0.113.7' }
 */
export function requestFor({ when = {}, key }: Limit, { ip, name: who }: RuleCaller = EXAMPLE): RuleRequest {
  const headers = firsts(when.header)
  const query = firsts(when.query)
  const attributes = new Map<string, string>()
  for (const part of key) {
    const [, kind = '', name = ''] = /^([a-z-]+)[^:|]*(?::(.+?))?(?:\|fold)?$/s.exec(part) ?? []
    if (kind === 'header') addTo(headers, name.toLowerCase(), who)
    else if (kind === 'cookie') headers.set('cookie', `${name}=${who}`)
    else if (kind === 'query') addTo(query, name, who)
    else if (kind === 'param') attributes.set(`param:${name}`, who)
    else if (kind === 'attribute') attributes.set(name, who)
    else if (!['ip', 'path', 'method', 'host'].includes(kind)) attributes.set(kind, who)
  }
  const host =
    when.host?.[0]?.replaceAll('*', 'example') ?? (key.includes('host') ? 'shop.example' : undefined)
  return {
    method: when.method?.[0] ?? 'GET',
    path: when.path === undefined ? '/' : pathFor(when.path[0]!),
    ...(host !== undefined && { host }),
    ip: when.ip?.[0]?.replace(/\/.*/, '') ?? ip,
    ...(headers.size > 0 && { headers: Object.fromEntries(headers) }),
    ...(query.size > 0 && { query: Object.fromEntries(query) }),
    ...(attributes.size > 0 && { attributes: Object.fromEntries(attributes) }),
  }
}

function firsts(wanted: Readonly<Record<string, readonly string[]>> = {}): Map<string, string> {
  return new Map(Object.entries(wanted).map(([name, values]) => [name, values[0]!]))
}

function addTo(map: Map<string, string>, name: string, value: string): void {
  if (!map.has(name)) map.set(name, value)
}

/** `/shops/:id/**` is met by `/shops/example/example`. */
function pathFor(glob: string): string {
  return glob
    .split('/')
    .map((segment) => (segment.startsWith(':') ? 'example' : segment.replace(/\*+/g, 'example')))
    .join('/')
}
