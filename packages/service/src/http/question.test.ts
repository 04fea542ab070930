import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answered, bench, post, type ServiceBench } from '../testing.ts'

let service: ServiceBench
beforeAll(async () => {
  service = await bench('domain: shop\nlimits: [{ name: n, key: [], limit: 1/hour }]\n')
})
afterAll(() => service.close())

const check = (body: unknown, query = ''): Promise<Answered> => post(service.http, `/v1/check${query}`, body)

describe('a request that cannot be judged', () => {
  const request = { path: '/login' }
  test.each([
    ['an unknown domain', { domain: 'none', request }, 404, 'no rules are loaded for domain "none"'],
    ['no domain', { request }, 400, 'domain is missing'],
    [
      'a domain that is no text',
      { domain: 1, request },
      400,
      'domain must be text of at most 256 characters, without control characters',
    ],
    [
      'neither request nor descriptors',
      { domain: 'shop' },
      400,
      'the body must have either request or descriptors',
    ],
    [
      'both',
      { domain: 'shop', request, descriptors: [{ entries: [{ key: 'a', value: 'b' }] }] },
      400,
      'the body must have either request or descriptors',
    ],
    ['an unknown field', { domain: 'shop', request, costs: 1 }, 400, 'unknown field "costs" in the body'],
    [
      'an unknown field within',
      { domain: 'shop', request: { pth: '/' } },
      400,
      'unknown field "pth" in request',
    ],
    ['a list for a body', [], 400, 'the body must be an object'],
    ['text for a body', '"shop"', 400, 'the body must be an object'],
    [
      'a header that is no text',
      { domain: 'shop', request: { headers: { 'x-a': 1 } } },
      400,
      'request.headers.x-a must be text of at most 16384 characters',
    ],
    [
      'an attribute that is neither text nor number',
      { domain: 'shop', request: { attributes: { a: true } } },
      400,
      'request.attributes.a must be a number, or text of at most 16384 characters',
    ],
    [
      'OF-08 an attribute that JSON numbers cannot hold exactly',
      '{"domain":"shop","request":{"attributes":{"n":9007199254740993}}}',
      400,
      'request.attributes.n must be a whole number from −(2^53−1) to 2^53−1; send any other number as text',
    ],
    [
      'too many headers',
      {
        domain: 'shop',
        request: { headers: Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`h${i}`, ''])) },
      },
      400,
      'request.headers must be an object of at most 128 fields',
    ],
    [
      'a text too long',
      { domain: 'shop', request: { path: 'x'.repeat(16_385) } },
      400,
      'request.path must be text of at most 16384 characters',
    ],
    ['no descriptors', { domain: 'shop', descriptors: [] }, 400, 'descriptors must be a list of 1 to 128'],
    [
      'an entry without a value',
      { domain: 'shop', descriptors: [{ entries: [{ key: 'a' }] }] },
      400,
      'descriptors[0].entries[0].value is missing',
    ],
    [
      'a negative cost of a descriptor',
      { domain: 'shop', descriptors: [{ entries: [{ key: 'a', value: 'b' }], cost: -1 }] },
      400,
      'descriptors[0].cost must be a whole number from 0 to 2^53−1',
    ],
    ['half a body', '{"domain":"shop","requ', 400, 'the body is not JSON, or has a field named __proto__'],
    ['an empty body', '', 400, 'the body is empty'],
    [
      'a __proto__',
      '{"domain":"shop","__proto__":{}}',
      400,
      'the body is not JSON, or has a field named __proto__',
    ],
    ['bytes that are not UTF-8', Buffer.from('{"domain":"\xff"}', 'latin1'), 400, 'the body is not UTF-8'],
    ['a megabyte', `{"domain":"${'x'.repeat(1_048_576)}"}`, 413, 'the body is too large'],
  ])('%s is told so', async (_name, body, status, detail) => {
    const answer = await check(body)
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json(;|$)/)
    expect(answer.body).toEqual({ type: 'about:blank', title: expect.any(String), status, detail })
    expect(answer.status).toBe(status)
  })

  test.each([
    ['?peak', 'unknown field "peak" in the query'],
    ['?peek=yes', 'peek must be empty, true or false'],
    ['?peek&peek', 'peek must be empty, true or false'],
  ])('%s does not charge by mistake', async (query, detail) => {
    const { status, body } = await check({ domain: 'shop', request }, query)
    expect([status, body.detail]).toEqual([400, detail])
  })
})
