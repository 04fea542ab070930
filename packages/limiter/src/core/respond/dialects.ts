import { chosenOf } from './chosen-dialects.ts'
import type { Dialect, DialectReader } from './dialect.ts'
import { checkedName, type DialectName, type Dialects, dialectWriters } from './dialect-writers.ts'
import { readDraft03 } from './draft-03.ts'
import { readDraft06 } from './draft-06.ts'
import { readDraft07 } from './draft-07.ts'
import { readGithub } from './github.ts'
import { readIetf } from './ietf.ts'
import { readXRateLimit, readXRateLimitEpoch } from './x-ratelimit.ts'

/** Makes every dialect by its name: its writer of dialect-writers.ts, and its reader. */
export const dialects = {
  ietf: (): Dialect => withReader('ietf', readIetf),
  'ietf-next': (): Dialect => withReader('ietf-next', readIetf),
  'draft-03': (): Dialect => withReader('draft-03', readDraft03),
  'draft-06': (): Dialect => withReader('draft-06', readDraft06),
  'draft-07': (): Dialect => withReader('draft-07', readDraft07),
  'x-ratelimit': (): Dialect => withReader('x-ratelimit', readXRateLimit),
  'x-ratelimit:retry-after': (): Dialect => withReader('x-ratelimit:retry-after', readXRateLimit),
  'x-ratelimit-epoch': (): Dialect => withReader('x-ratelimit-epoch', readXRateLimitEpoch),
  github: (): Dialect => withReader('github', readGithub),
} as const

/**
 * The dialects of these names, and one's own, which go out side by side.
 * @throws ConfigError for an unknown name, an object that is no dialect, or two dialects that would send the same
 *   header, in whatever case
 * @example
 * dialectsOf(['ietf', 'x-ratelimit']).map(({ name }) => name) // ['ietf', 'x-ratelimit']
 */
export function dialectsOf(given: Dialects): readonly Dialect[] {
  return chosenOf<Dialect, DialectName>(given, (name) => dialects[checkedName(name)]())
}

function withReader(name: DialectName, read: DialectReader): Dialect {
  return { ...dialectWriters[name](), read }
}
