import { ConfigError } from '../errors.ts'
import type { Dialect, DialectWriter } from './dialect.ts'

/** A header's name (RFC 9110 §5.6.2). */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** What an answer says beside the dialects: another line of that name would contradict it. */
const OURS = ['retry-after', 'cache-control', 'content-type']

/**
 * An object as the dialect that it is.
 * @throws ConfigError where it is none: a `name` of some length, one header name or more in `names`, each of them once,
 *   and these functions
 */
export function checkDialect(given: DialectWriter, methods: readonly ('headers' | 'read')[]): DialectWriter {
  if (typeof given !== 'object' || given === null)
    throw new ConfigError(`a dialect is a name or an object, not ${given === null ? 'null' : typeof given}`)
  const { name, names } = given
  if (typeof name !== 'string' || name === '') throw new ConfigError('a dialect needs a name')
  for (const method of methods) {
    if (typeof (given as Partial<Dialect>)[method] !== 'function')
      throw new ConfigError(`the dialect ${name} needs a function ${method}`)
  }
  if (!Array.isArray(names) || names.length === 0)
    throw new ConfigError(`the dialect ${name} needs names: a list of the headers that it sends`)
  const listed = new Set<string>()
  for (const header of names) checkHeader(name, header, listed)
  return given
}

function checkHeader(dialect: string, header: unknown, listed: Set<string>): void {
  if (typeof header !== 'string' || !NAME.test(header))
    throw new ConfigError(
      `the dialect ${dialect} lists ${JSON.stringify(String(header))}, which is no name of a header`,
    )
  const lower = header.toLowerCase()
  if (OURS.includes(lower))
    throw new ConfigError(`the dialect ${dialect} lists ${header}, which is sent without a dialect`)
  if (listed.has(lower)) throw new ConfigError(`the dialect ${dialect} lists ${header} twice`)
  listed.add(lower)
}
