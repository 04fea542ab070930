import { expect, it } from 'vitest'
import { mistakeIn } from './mistake.test-support.ts'
import { readNoQuery, readPeek } from './query.ts'

it.each([
  [{}, false],
  [{ peek: '' }, true],
  [{ peek: 'true' }, true],
  [{ peek: 'false' }, false],
  [Object.assign(Object.create(null), { peek: '' }), true],
])('the query %j asks only to look: %s', (query, looks) => {
  expect(readPeek(query)).toBe(looks)
})

it.each([
  [{ peek: 'yes' }, 'peek must be empty, true or false'],
  [{ peek: ['', ''] }, 'peek must be empty, true or false'],
  [{ peak: '' }, 'unknown field "peak" in the query'],
])('the query %j does not charge by mistake', (query, message) => {
  expect(mistakeIn(() => readPeek(query)).message).toBe(message)
})

it('a call without a query takes none', () => {
  readNoQuery({})
  expect(mistakeIn(() => readNoQuery({ peek: '' })).message).toBe('unknown field "peek" in the query')
})
