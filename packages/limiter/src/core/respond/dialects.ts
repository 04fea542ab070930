import { ConfigError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { listOf, type OptionCheck, under } from '../options.ts'
import type { Dialect } from './dialect.ts'
import { checkDialect } from './dialect-check.ts'
import { draft03 } from './draft-03.ts'
import { draft06 } from './draft-06.ts'
import { draft07 } from './draft-07.ts'
import { github } from './github.ts'
import { ietf } from './ietf.ts'
import { ietfNext } from './ietf-next.ts'
import { xRateLimit, xRateLimitEpoch, xRateLimitRetryAfter } from './x-ratelimit.ts'

/** Makes every dialect by its name. A new one is a file beside this and a line here. */
export const dialects = {
  ietf: (): Dialect => ietf(),
  'ietf-next': (): Dialect => ietfNext(),
  'draft-03': (): Dialect => draft03,
  'draft-06': (): Dialect => draft06,
  'draft-07': (): Dialect => draft07,
  'x-ratelimit': (): Dialect => xRateLimit,
  'x-ratelimit:retry-after': (): Dialect => xRateLimitRetryAfter,
  'x-ratelimit-epoch': (): Dialect => xRateLimitEpoch,
  github: (): Dialect => github,
} as const

export type DialectName = keyof typeof dialects

/**
 * One or several, each by its name or as an object of one's own; or as {@link dialectsOf} gave them, which spares
 * checking them again for each response.
 */
export type Dialects = DialectName | Dialect | readonly (DialectName | Dialect)[]

/** What the dialects of options may be. */
export const dialectsCheck: OptionCheck = (value, path) => {
  if (Array.isArray(value)) listOf(dialectsCheck)(value, path)
  under([...path], () => dialectsOf(value as Dialects))
  return undefined
}

/** Marks a list as one that dialectsOf gave. */
const checked: unique symbol = Symbol('checked')

/**
 * The dialects of these names, and one's own, which go out side by side.
 * @throws ConfigError for an unknown name, an object that is no dialect, or two dialects that would send the same
 *   header, in whatever case
 * @example
 * dialectsOf(['ietf', 'x-ratelimit']).map(({ name }) => name) // ['ietf', 'x-ratelimit']
 */
export function dialectsOf(given: Dialects): readonly Dialect[] {
  const list = isList(given) ? given : [given]
  if (isChecked(list)) return list
  const chosen = list.map((one) => (typeof one === 'string' ? dialectOf(one) : checkDialect(one)))
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
export function exposedHeaders(chosen: readonly Dialect[]): string[] {
  return ['Retry-After', ...chosen.flatMap((dialect) => dialect.names)]
}

function isList(given: Dialects): given is readonly (DialectName | Dialect)[] {
  return Array.isArray(given)
}

function isChecked(list: readonly (DialectName | Dialect)[]): list is readonly Dialect[] {
  return checked in list
}

function dialectOf(name: DialectName): Dialect {
  if (Object.hasOwn(dialects, name)) return dialects[name]()
  const known = Object.keys(dialects)
  const draft = Number(/^draft-0?(\d+)$/.exec(name)?.[1])
  const meant = draft >= 8 && draft <= 11 ? 'ietf, for drafts 8 to 11' : nearest(name, known)
  throw new ConfigError(
    `no dialect is named ${JSON.stringify(name)}; ${meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`}`,
  )
}
