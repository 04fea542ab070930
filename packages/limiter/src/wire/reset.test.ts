import { describe, expect, it } from 'vitest'
import { mistakeIn } from './mistake.test-support.ts'
import { readReset } from './reset.ts'

const request = { path: '/login' }
const EITHER = 'the body must have policy and key, or a request or descriptors'

describe('the body of reset', () => {
  it('names a key, or is a question without a cost', () => {
    const named = { domain: 'shop', policy: 'login', key: '192.0.2.1' }
    expect(readReset(named)).toEqual(named)
    expect(readReset({ domain: 'shop', request: { headers: { 'X-A': 'b' } } })).toEqual({
      domain: 'shop',
      request: { headers: { 'x-a': 'b' } },
    })
  })

  it.each<[unknown, string]>([
    [[], 'the body must be an object'],
    [{ policy: 'login', key: 'k' }, 'domain is missing'],
    [{ domain: 'shop' }, 'the body must have either request or descriptors'],
    [{ domain: 'shop', policy: 'login' }, EITHER],
    [{ domain: 'shop', key: 'k', request }, EITHER],
    [{ domain: 'shop', policy: 'login', key: 'k', request }, EITHER],
    [{ domain: 'shop', request, cost: 1 }, 'unknown field "cost" in the body'],
    [{ domain: 'shop', policy: 1, key: 'k' }, 'policy must be text of at most 16384 characters'],
  ])('such as %j has a mistake', (body, message) => {
    expect(mistakeIn(() => readReset(body)).message).toBe(message)
  })
})
