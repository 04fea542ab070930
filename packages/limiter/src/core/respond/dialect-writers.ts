import { ConfigError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { listOf, type OptionCheck, under } from '../options.ts'
import { chosenOf } from './chosen-dialects.ts'
import type { Dialect, DialectWriter } from './dialect.ts'
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

/** The writers of these dialects, as {@link chosenOf}. */
export function writersOf(given: Dialects): readonly DialectWriter[] {
  return chosenOf<DialectWriter, DialectName>(given, (name) => dialectWriters[checkedName(name)]())
}

/** @throws ConfigError where no dialect has that name */
export function checkedName(name: DialectName): DialectName {
  if (Object.hasOwn(dialectWriters, name)) return name
  const known = Object.keys(dialectWriters)
  const draft = Number(/^draft-0?(\d+)$/.exec(name)?.[1])
  const meant = draft >= 8 && draft <= 11 ? 'ietf, for drafts 8 to 11' : nearest(name, known)
  throw new ConfigError(
    `no dialect is named ${JSON.stringify(name)}; ${meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`}`,
  )
}
