import { ConfigError } from '../errors.ts'
import type { Dialect } from './dialect.ts'
import { draft03 } from './draft-03.ts'
import { draft06 } from './draft-06.ts'
import { draft07 } from './draft-07.ts'
import { github } from './github.ts'
import { ietf } from './ietf.ts'
import { ietfNext } from './ietf-next.ts'
import { xRateLimit, xRateLimitEpoch } from './x-ratelimit.ts'

export type DialectName =
  | 'ietf'
  | 'ietf-next'
  | 'draft-03'
  | 'draft-06'
  | 'draft-07'
  | 'x-ratelimit'
  | 'x-ratelimit-epoch'
  | 'github'

/** Makes every dialect by its name. A new one is a file beside this and a line here. */
export const dialects: Readonly<Record<DialectName, () => Dialect>> = {
  ietf,
  'ietf-next': ietfNext,
  'draft-03': () => draft03,
  'draft-06': () => draft06,
  'draft-07': () => draft07,
  'x-ratelimit': () => xRateLimit,
  'x-ratelimit-epoch': () => xRateLimitEpoch,
  github: () => github,
}

/** By name, one or several; or as {@link dialectsOf} gave them, which spares looking them up for each response. */
export type Dialects = DialectName | readonly DialectName[] | readonly Dialect[]

/**
 * The dialects of these names, which go out side by side.
 * @throws ConfigError for an unknown name, or two dialects that would send the same header
 * @example
 * dialectsOf(['ietf', 'x-ratelimit']).map(({ name }) => name) // ['ietf', 'x-ratelimit']
 */
export function dialectsOf(named: Dialects): readonly Dialect[] {
  const names = typeof named === 'string' ? [named] : named
  if (isResolved(names)) return names
  const chosen = names.map(dialectOf)
  const senders = new Map<string, string>()
  for (const { name, names: headers } of chosen) {
    for (const header of headers) {
      const other = senders.get(header)
      if (other !== undefined) throw new ConfigError(`the dialects ${other} and ${name} both send ${header}`)
      senders.set(header, name)
    }
  }
  return chosen
}

/**
 * What a browser's script may not read unless `Access-Control-Expose-Headers` lists it: the names of headers.
 * @example
 * exposedHeaders(dialectsOf('ietf')) // ['Retry-After', 'RateLimit-Policy', 'RateLimit']
 */
export function exposedHeaders(chosen: readonly Dialect[]): string[] {
  return ['Retry-After', ...chosen.flatMap((dialect) => dialect.names)]
}

function isResolved(names: readonly DialectName[] | readonly Dialect[]): names is readonly Dialect[] {
  return typeof names[0] === 'object'
}

function dialectOf(name: DialectName): Dialect {
  if (Object.hasOwn(dialects, name)) return dialects[name]()
  throw new ConfigError(
    `no dialect is named ${JSON.stringify(name)}; there are ${Object.keys(dialects).join(', ')}`,
  )
}
