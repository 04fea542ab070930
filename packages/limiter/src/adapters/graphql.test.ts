import { GraphQLError, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { OperationRefused, operationCost, rateLimit } from './graphql.ts'

describe('the cost of an operation', () => {
  const cost = (text: string, more: object = {}) => operationCost({ document: parse(text), ...more })

  it('is one for each field, whatever it is called', () => {
    expect(cost('{ a }')).toBe(1)
    expect(cost('{ a { b c { d } } }')).toBe(4)
    expect(cost('mutation { one: login(p: 1) two: login(p: 2) }')).toBe(2)
  })

  it('is multiplied by how many are asked for', () => {
    expect(cost('{ users(first: 50) { name posts(first: 10) { title } } }')).toBe(601)
    expect(cost('query ($n: Int) { users(last: $n) { name } }', { variables: { n: 30 } })).toBe(31)
    expect(cost('query ($n: Int = 20) { users(limit: $n) { name } }')).toBe(21)
    expect(cost('query ($n: Int = 20) { users(limit: $n) { name } }', { variables: { n: 'all' } })).toBe(2)
    expect(cost('{ users(first: 0) { name } }')).toBe(1)
    expect(cost('query ($constructor: Int) { users(first: $constructor) { name } }', { variables: {} })).toBe(
      2,
    )
  })

  it('counts fragments where they are spread', () => {
    expect(cost('{ a { ...f } b { ... on T { ...f } } } fragment f on T { x y }')).toBe(6)
    expect(cost('{ a { ...none } }')).toBe(1)
  })

  it('takes no longer for fragments that double and double, nor for ever for one inside itself', () => {
    const doubling = Array.from(
      { length: 60 },
      (_, i) => `fragment f${i} on T { a { ...f${i + 1} } b { ...f${i + 1} } }`,
    )
    expect(cost(`{ ...f0 } ${doubling.join(' ')} fragment f60 on T { x }`)).toBe(Number.MAX_SAFE_INTEGER)
    expect(cost('{ ...f } fragment f on T { a { ...f } }')).toBe(1)
    expect(cost(`{ a(first: 0) { ...f0 } } ${doubling.join(' ')} fragment f60 on T { x }`)).toBe(1)
  })

  it('is that of the operation that is named', () => {
    const both = 'query one { a } query two { a b c }'
    expect(cost(both)).toBe(1)
    expect(cost(both, { operationName: 'two' })).toBe(3)
    expect(cost(both, { operationName: 'three' })).toBe(1)
  })
})

describe('GraphQL', () => {
  const limit = rateLimit<{ user: string }>({
    limit: 10,
    period: '1m',
    name: 'test',
    store: new MemoryStore({ clock: new FakeClock() }),
    key: ({ user }) => user,
  })
  const ask = (query: string, user: string) => limit({ document: parse(query), context: { user } })

  it('charges operations what they ask for, to whoever the context says', async () => {
    expect(await ask('{ a b c }', 'ada')).toMatchObject({ remaining: 7, key: 'ada' })
    expect(await ask('{ a(first: 6) { b } }', 'ada')).toMatchObject({ remaining: 0 })
    expect(await ask('{ a }', 'bob')).toMatchObject({ remaining: 9 })
  })

  it('OF-31: returns figures where no limit applies, too', async () => {
    for (const more of [{ shadow: true }, { skip: () => true }, { allowList: ['ada'] }]) {
      const unlimited = rateLimit({ limit: 1, period: '1m', key: () => 'ada', ...more })
      const info = await unlimited({ document: parse('{ a }'), context: undefined })
      expect(info).toMatchObject({ limit: Number.POSITIVE_INFINITY, policy: '', resetTime: expect.any(Date) })
    }
  })

  it('throws refusals with what servers put into the answer', async () => {
    await ask('{ a(first: 9) { b } }', 'cy')
    const error = await ask('{ a }', 'cy').catch((error) => error)
    expect(error).toBeInstanceOf(OperationRefused)
    const extensions = { code: 'RATE_LIMITED', retryAfter: 60, http: { status: 429 } }
    expect(error.extensions).toEqual(extensions)
    // As servers do with whatever is thrown.
    expect(new GraphQLError(error.message, { originalError: error }).extensions).toEqual(extensions)
  })

  it('says nothing of when to come back with an operation that never fits', async () => {
    await expect(ask('{ a(first: 99) { b } }', 'dee')).rejects.toMatchObject({
      message: 'over the limit',
      extensions: { http: { status: 429 } },
    })
  })

  it('asks who sends operations, since they do not tell', () => {
    expect(() => rateLimit({ limit: 1, period: '1m' })).toThrow('give key or address')
    expect(() => rateLimit({ limit: 1, period: '1m', key: () => 'k', skipFailedRequests: true })).toThrow(
      'no response to wait for',
    )
  })
})
