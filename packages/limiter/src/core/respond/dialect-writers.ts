import { ConfigError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { listOf, type OptionCheck, under } from '../options.ts'
import type { Dialect, DialectWriter } from './dialect.ts'
import { checkDialect } from './dialect-check.ts'
import { draft03 } from './draft-03.ts'
import { draft06 } from './draft-06.ts'
import { draft07 } from './draft-07.ts'
import { github } from './github.ts'
import { ietf } from './ietf.ts'
import { ietfNext } from './ietf-next.ts'
import { xRateLimit, xRateLimitEpoch, xRateLimitRetryAfter } from './x-ratelimit.ts'

/** Makes the writer of every dialect by its name. A new one is a file beside this, a line here and one in dialects.ts. */
export const dialectWriters = {
  ietf: (): DialectWriter => ietf(),
  'ietf-next': (): DialectWriter => ietfNext(),
  'draft-03': (): DialectWriter => draft03,
  'draft-06': (): DialectWriter => draft06,
  'draft-07': (): DialectWriter => draft07,
  'x-ratelimit': (): DialectWriter => xRateLimit,
  'x-ratelimit:retry-after': (): DialectWriter => xRateLimitRetryAfter,
  'x-ratelimit-epoch': (): DialectWriter => xRateLimitEpoch,
  github: (): DialectWriter => github,
} as const

export type DialectName = keyof typeof dialectWriters

/**
 * One or several, each by its name or as an object of one's own; or as `dialectsOf` gave them, which spares
 * checking them again for each response.
 */
export type Dialects = DialectName | Dialect | readonly (DialectName | Dialect)[]

/** What the dialects of options may be. */
export const dialectsCheck: OptionCheck = (value, path) => {
  if (Array.isArray(value)) listOf(dialectsCheck)(value, path)
  under([...path], () => writersOf(value as Dialects))
  return undefined
}

/** Marks a list as one that was checked. */
const checked: unique symbol = /* @__PURE__ */ Symbol('checked')

/** The writers of these dialects, as {@link chosenOf}. */
export function writersOf(given: Dialects): readonly DialectWriter[] {
  return chosenOf<DialectWriter>(given, (name) => dialectWriters[name]())
}

/**
 * The dialects of these names, and one's own, which go out side by side.
 * @param byName makes the dialect of a name that exists
 * @throws ConfigError for an unknown name, an object that is no dialect, or two dialects that would send the same
 *   header, in whatever case
 */
export function chosenOf<D extends DialectWriter>(
  given: Dialects,
  byName: (name: DialectName) => D,
): readonly D[] {
  const list = isList(given) ? given : [given]
  if (checked in list) return list as readonly Dialect[] as readonly DialectWriter[] as readonly D[]
  const chosen = list.map((one) => {
    if (typeof one !== 'string') return checkDialect(one) as DialectWriter as D
    checkName(one)
    return byName(one)
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

function isList(given: Dialects): given is readonly (DialectName | Dialect)[] {
  return Array.isArray(given)
}

function checkName(name: string): void {
  if (Object.hasOwn(dialectWriters, name)) return
  const known = Object.keys(dialectWriters)
  const meant = nearest(name, known)
  throw new ConfigError(
    `no dialect is named ${JSON.stringify(name)}; ${meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`}`,
  )
}
