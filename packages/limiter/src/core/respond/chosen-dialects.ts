import { ConfigError } from '../errors.ts'
import type { DialectWriter } from './dialect.ts'
import { checkDialect } from './dialect-check.ts'

/** Marks a list as one that was checked. */
const checked: unique symbol = /* @__PURE__ */ Symbol('checked')

/**
 * The dialects of these names, and one's own, which go out side by side.
 * @param byName makes the dialect of a name, or throws
 * @param methods what a dialect that is an object has to have
 * @throws ConfigError for an unknown name, an object that is no dialect, or two dialects that would send the same
 *   header, in whatever case
 */
export function chosenOf<D extends DialectWriter, Name extends string>(
  given: Name | DialectWriter | readonly (Name | DialectWriter)[],
  byName: (name: Name) => D,
  methods: readonly ('headers' | 'read')[] = ['headers', 'read'],
): readonly D[] {
  const list = (Array.isArray(given) ? given : [given]) as readonly (Name | DialectWriter)[]
  if (checked in list) return list as readonly unknown[] as readonly D[]
  const chosen = list.map((one) => {
    if (typeof one === 'string') return byName(one)
    return checkDialect(one, methods) as D
  })
  const senders = new Map<string, string>()
  for (const { name, names: headers } of chosen) {
    for (const header of headers) {
      const other = senders.get(header.toLowerCase())
      if (other !== undefined) throw new ConfigError(`the dialects ${other} and ${name} both send ${header}`)
      senders.set(header.toLowerCase(), name)
    }
  }
  return Object.assign(chosen, { [checked]: true })
}

/**
 * What a browser's script may not read unless `Access-Control-Expose-Headers` lists it: the names of headers.
 * @example
 * exposedHeaders(dialectsOf('ietf')) // ['Retry-After', 'RateLimit-Policy', 'RateLimit']
 */
export function exposedHeaders(chosen: readonly Pick<DialectWriter, 'names'>[]): string[] {
  return ['Retry-After', ...chosen.flatMap((dialect) => dialect.names)]
}
