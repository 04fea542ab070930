import type { CompiledDomain, Domain, Level, Limit } from '@sluice/limiter/rules'

/** The names that one domain's rules have, and those that they read of a question. */
export interface NamesRead {
  /** The parts of each limit's key. */
  readonly limits: ReadonlyMap<string, ReadonlySet<string>>
  /** In lower case. */
  readonly headers: ReadonlySet<string>
  readonly query: ReadonlySet<string>
  readonly attributes: ReadonlySet<string>
  /** Keys of descriptors, as written: `*` stands for any characters. */
  readonly entries: ReadonlySet<string>
}

type Collected = {
  readonly [K in keyof NamesRead]: NamesRead[K] extends ReadonlySet<string>
    ? Set<string>
    : Map<string, Set<string>>
}

export function namesRead({ limits }: Domain, { descriptors }: CompiledDomain): NamesRead {
  const names: Collected = {
    limits: new Map(),
    headers: new Set(),
    query: new Set(),
    attributes: new Set(),
    entries: new Set(),
  }
  for (const limit of limits) readLimit(limit, names)
  readLevel(descriptors, [], names)
  return names
}

function readLimit({ name, key, when = {}, cost, limit }: Limit, names: Collected): void {
  addParts(names, name, key)
  for (const part of key) readPart(part, names)
  if (typeof cost === 'string') readPart(cost, names)
  if ('by' in limit) names.attributes.add(limit.by)
  for (const header of Object.keys(when.header ?? {})) names.headers.add(header.toLowerCase())
  for (const parameter of Object.keys(when.query ?? {})) names.query.add(parameter)
}

/** What a part of a key, or a cost, is read from. Method, path, host and address have fields of their own. */
function readPart(part: string, { headers, query, attributes }: Collected): void {
  const [, kind = '', name = ''] = /^([a-z-]+)(?::(.*?))?(?:\|fold)?$/s.exec(part) ?? []
  if (kind === 'header') headers.add(name.toLowerCase())
  else if (kind === 'cookie') headers.add('cookie')
  else if (kind === 'query') query.add(name)
  else if (kind === 'attribute') attributes.add(name)
  else if (kind === 'param') attributes.add(`param:${name}`)
  else if (['user', 'tenant', 'route', 'api-key'].includes(kind)) attributes.add(kind)
}

function readLevel({ exact, patterns, keys }: Level, above: readonly string[], names: Collected): void {
  const nodes = [...[...exact.values()].flatMap((each) => [...each.values()]), ...patterns, ...keys.values()]
  for (const { key, limit, children } of nodes) {
    const path = [...above, key]
    names.entries.add(key)
    if (limit?.rule !== undefined) addParts(names, limit.rule.name, path)
    readLevel(children, path, names)
  }
}

/** Limits of one name, such as two levels of descriptors that are named alike, have the parts of all. */
function addParts({ limits }: Collected, limit: string, parts: readonly string[]): void {
  const known = limits.get(limit) ?? new Set()
  limits.set(limit, known)
  for (const part of parts) known.add(part)
}
