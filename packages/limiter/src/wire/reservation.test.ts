import { describe, expect, it } from 'vitest'
import { mistakeIn } from './mistake.test-support.ts'
import { readCancel, readCommit, readReserve, readReserveAnswer } from './reservation.ts'

const WHOLE = 'a whole number from 0 to 2^53−1'
const asked = { domain: 'shop', request: { path: '/chat' } }
const bounds = { maxTextLength: 3, maxEntries: 2, maxBatch: 1 }

describe('the body of reserve', () => {
  it('is a question, and how long the reservation lasts', () => {
    expect(readReserve({ ...asked, cost: 5, ttl_ms: 86_400_000 })).toEqual({
      question: { ...asked, cost: 5 },
      ttlMs: 86_400_000,
    })
    expect(readReserve(asked)).toEqual({ question: asked, ttlMs: 60_000 })
  })

  it.each<[unknown, string, string]>([
    [[], '', 'the body must be an object'],
    [{ request: {} }, 'domain', 'domain is missing'],
    [{ domain: 'shop' }, '', 'the body must have either request or descriptors'],
    [{ ...asked, id: 'a' }, '', 'unknown field "id" in the body'],
    [{ ...asked, cost: -1 }, 'cost', `cost must be ${WHOLE}`],
    ...[0, 1.5, 86_400_001, '60000', null].map((ttl_ms): [unknown, string, string] => [
      { ...asked, ttl_ms },
      'ttl_ms',
      'ttl_ms must be a whole number from 1 to 86400000',
    ]),
  ])('such as %j has a mistake', (body, path, message) => {
    expect(mistakeIn(() => readReserve(body))).toMatchObject({ path, message })
  })
})

describe('the body of commit', () => {
  it.each([{ id: 'a' }, { id: '', cost: 0 }, { id: 'a', costs: { tokens: 12, __proto__: 1 } }])(
    '%j is read as it is; what is to be settled is for the service to say',
    (body) => {
      expect(readCommit(body)).toBe(body)
    },
  )

  it('takes a policy of any name', () => {
    const { costs = {} } = readCommit(JSON.parse('{ "id": "a", "costs": { "__proto__": 3 } }'))
    expect(Object.entries(costs)).toEqual([['__proto__', 3]])
  })

  it.each<[unknown, string, string]>([
    [{}, 'id', 'id is missing'],
    [{ id: 1 }, 'id', 'id must be the id of a reservation'],
    [{ id: 'a', cost: 0.5 }, 'cost', `cost must be ${WHOLE}`],
    [{ id: 'a', costs: [1] }, 'costs', 'costs must be an object of at most 2 fields'],
    [{ id: 'a', costs: { a: 1, b: 1, c: 1 } }, 'costs', 'costs must be an object of at most 2 fields'],
    [{ id: 'a', costs: { abc: -1 } }, 'costs.abc', `costs.abc must be ${WHOLE}`],
    [{ id: 'a', price: 1 }, '', 'unknown field "price" in the body'],
  ])('such as %j has a mistake', (body, path, message) => {
    expect(mistakeIn(() => readCommit(body, bounds))).toMatchObject({ path, message })
  })
})

describe('the body of cancel', () => {
  it('is an id, however long', () => {
    const id = 'x'.repeat(100_000)
    expect(readCancel({ id })).toEqual({ id })
  })

  it.each<[unknown, string]>([
    [null, 'the body must be an object'],
    [{}, 'id is missing'],
    [{ id: null }, 'id must be the id of a reservation'],
    [{ id: 'a', cost: 1 }, 'unknown field "cost" in the body'],
  ])('such as %j has a mistake', (body, message) => {
    expect(mistakeIn(() => readCancel(body)).message).toBe(message)
  })
})

describe('the answer to reserve', () => {
  const answer = {
    policy: 'tokens',
    allowed: true,
    limit: 10,
    remaining: 9,
    retryAfterMs: 0,
    moreAfterMs: 1,
    resetAfterMs: 1,
    delayMs: 0,
    policies: [],
    degraded: false,
    headers: {},
    id: 'a',
  }

  it('is an answer with an id, or null', () => {
    expect(readReserveAnswer({ ...answer, later: [] }).id).toBe('a')
    expect(readReserveAnswer({ ...answer, id: null }).id).toBeNull()
  })

  it.each<[object, string]>([
    [{ ...answer, id: 1 }, 'id must be text or null'],
    [{ id: 'a' }, 'policy is missing'],
  ])('such as %j has a mistake', (body, message) => {
    expect(mistakeIn(() => readReserveAnswer(body)).message).toBe(message)
  })
})
