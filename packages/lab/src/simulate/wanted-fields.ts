import type { Domain, Limit } from '@sluice/limiter/rules'

/**
 * Names of the fields of a log's lines on which the limits of a domain depend: lines that are equal in these get equal
 * answers, and the rest of a line need not be read. `undefined`: all of them may count.
 */
export function wantedFields({ limits }: Domain, byDescriptors: boolean): ReadonlySet<string> | undefined {
  if (byDescriptors) return undefined
  return new Set(limits.flatMap(fieldsOfLimit))
}

function fieldsOfLimit({ when = {}, key, limit, cost, exempt, overrides }: Limit): string[] {
  const { method, path, host, header = {}, query, ip } = when
  return [
    ...key.flatMap(fieldsOfPart),
    ...(method ? ['method'] : []),
    ...(path || query ? TARGET : []),
    ...(host ? HOST : []),
    ...Object.keys(header).flatMap((name) => fieldsOfPart(`header:${name}`)),
    ...(ip || exempt.length > 0 || overrides.length > 0 ? ['ip'] : []),
    ...('by' in limit ? [limit.by] : []),
    ...(typeof cost === 'string' ? fieldsOfPart(cost) : []),
  ]
}

const TARGET = ['target', 'query']
/** A request target may hold a host, too. */
const HOST = ['host', 'target']

function fieldsOfPart(text: string): string[] {
  const part = text.replace(/\|fold$/, '')
  const [, kind = '', name = ''] = /^([a-z-]+)(?:\/[\d/]+)?(?::(.+))?$/s.exec(part) ?? []
  switch (kind) {
    case 'path':
    case 'query':
      return TARGET
    case 'param':
      return [...TARGET, part]
    case 'host':
      return HOST
    case 'header':
      return [name.toLowerCase()]
    case 'attribute':
      return [name]
    default:
      return [kind] // ip, method, and the attributes user, tenant, api-key, route
  }
}
