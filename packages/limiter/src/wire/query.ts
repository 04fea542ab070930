import { wrong } from './mistake.ts'
import { type Check, fields, readUnbounded } from './read.ts'

interface PeekQuery {
  readonly peek?: '' | 'true' | 'false'
}

const PEEK_VALUE: Check<'' | 'true' | 'false'> = (value) =>
  value === '' || value === 'true' || value === 'false' ? undefined : wrong('empty, true or false')

const PEEK_QUERY = fields<PeekQuery>({}, { peek: PEEK_VALUE })
const NO_QUERY = fields<Record<never, never>>({}, {})

/**
 * Whether the query of a check asks only to look: `?peek` or `?peek=true`. It is strict, because a misspelt `?peek`
 * would charge.
 * @param query the query string's fields, decoded
 * @throws WireError
 * @example
 * readPeek({ peek: '' }) // true
 */
export function readPeek(query: unknown): boolean {
  const { peek = 'false' } = readUnbounded(PEEK_QUERY, query, 'the query')
  return peek !== 'false'
}

/**
 * For calls that take no query: one with `?peek` would charge.
 * @throws WireError when there is any field
 * @example
 * readNoQuery({})
 */
export function readNoQuery(query: unknown): void {
  readUnbounded(NO_QUERY, query, 'the query')
}
