import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answered, bench, post, type ServiceBench } from '../testing.ts'

const RULES = `
domain: shop
limits:
  - { name: login, when: { path: [/login, /otp] }, key: [ip], limit: 2/minute, algorithm: fixed-window }
  - { name: minute, when: { path: /spend }, key: [user], limit: 60/minute, algorithm: fixed-window }
  - { name: hourly, when: { path: /spend }, key: [user], limit: 4/hour, algorithm: sliding-window-log }
  - { name: nobody, when: { path: /closed }, key: [], limit: 0/minute }
  - { name: model, when: { path: /chat }, key: ["header:x-model"], limit: 1/hour }
  - { name: each, when: { path: /each }, key: [user, tenant], limit: 1/hour }
  - { name: cost, when: { path: /cost }, key: [], limit: 10/hour, algorithm: fixed-window }
  - { name: low, when: { path: /low }, key: [], limit: 1/hour, on_limit: deprioritize }
  - { name: watched, when: { path: /watched }, key: [], limit: 1/hour, mode: shadow }
`
let service: ServiceBench
beforeAll(async () => {
  service = await bench(RULES)
})
afterAll(() => service.close())

const check = (body: unknown, query = ''): Promise<Answered> => post(service.http, `/v1/check${query}`, body)
const ask = (path: string, request: object = {}, cost?: unknown): Promise<Answered> =>
  check({ domain: 'shop', request: { path, ...request }, cost })

describe('a decision', () => {
  test('is told with every figure, and with the headers for the client', async () => {
    const first = await ask('/login', { ip: '203.0.113.1' })
    expect(first.status).toBe(200)
    expect(first.body).toEqual({
      allowed: true,
      policy: 'login',
      limit: 2,
      remaining: 1,
      retryAfterMs: 0,
      moreAfterMs: 60_000,
      resetAfterMs: 60_000,
      delayMs: 0,
      policies: [
        {
          policy: 'login',
          allowed: true,
          limit: 2,
          remaining: 1,
          retryAfterMs: 0,
          moreAfterMs: 60_000,
          resetAfterMs: 60_000,
          delayMs: 0,
          windowSeconds: 60,
        },
      ],
      degraded: false,
      leaseMs: 60_000,
      headers: { 'RateLimit-Policy': '"login";q=2;w=60', RateLimit: '"login";r=1;t=60' },
    })
  })

  test('OF-13: over a limit that only deprioritizes, its headers are for the client and its mark for the next hop', async () => {
    const first = await ask('/low')
    expect(first.body).not.toHaveProperty('upstreamHeaders')
    const { body } = await ask('/low')
    expect(body).toMatchObject({ allowed: true, policy: 'low', limit: 1, remaining: 0, priority: 'low' })
    expect(body).toMatchObject({ policies: [{ policy: 'low', allowed: false, deprioritizes: true }] })
    expect(body).toMatchObject({ upstreamHeaders: { 'Sluice-Priority': 'low' } })
    expect(body).toMatchObject({ headers: { RateLimit: expect.stringMatching(/^"low";r=0;t=3600$/) } })
    expect(body).not.toHaveProperty(['headers', 'Sluice-Priority'])
  })

  test('is 200 when it refuses, and says what the client should be told', async () => {
    await ask('/login', { ip: '203.0.113.2' }, 2)
    const { status, body } = await ask('/login', { ip: '203.0.113.2' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ allowed: false, policy: 'login', remaining: 0, retryAfterMs: 60_000 })
    expect(body.headers).toMatchObject({ 'Retry-After': '60', 'Cache-Control': 'no-store' })
    expect(body.headers).not.toHaveProperty('Content-Type')
  })

  test('without any limit has none to tell', async () => {
    const { body } = await ask('/free')
    expect(body).toMatchObject({ allowed: true, policy: '', limit: null, remaining: null, policies: [] })
  })

  test('of a shadow policy is told, and enforces nothing', async () => {
    await ask('/watched')
    const { body } = await ask('/watched')
    expect(body).toMatchObject({
      allowed: true,
      policies: [{ policy: 'watched', allowed: false, shadow: true }],
    })
  })

  test.each(['?peek', '?peek=', '?peek=true'])('with %s only looks', async (query) => {
    const body = { domain: 'shop', request: { path: '/login', ip: `203.0.113.${100 + query.length}` } }
    for (let i = 0; i < 3; i++)
      expect((await check(body, query)).body).toMatchObject({ allowed: true, remaining: 2 })
    expect((await check(body, '?peek=false')).body).toMatchObject({ remaining: 1 })
  })

  test('T47: one limit on two routes is one limit', async () => {
    const paths = ['/login', '/otp', '/login', '/otp']
    const allowed = []
    for (const path of paths) allowed.push((await ask(path, { ip: '203.0.113.4' })).body.allowed)
    expect(allowed).toEqual([true, true, false, false])
  })

  test('FB-049: carries the figures of the limit that refuses, not of one that passes', async () => {
    const request = { attributes: { user: 'fb-049' } }
    for (let i = 0; i < 4; i++) await ask('/spend', request)
    service.clock.advance(600_000)
    const { body } = await ask('/spend', request)
    expect(body).toMatchObject({ allowed: false, policy: 'hourly', remaining: 0, retryAfterMs: 3_000_000 })
    expect(body.headers['Retry-After']).toBe('3000')
  })

  test('FB-051: whoever waits as long as Retry-After says is admitted', async () => {
    const request = { ip: '203.0.113.51' }
    service.clock.advance(1_234.567)
    for (let round = 0; round < 5; round++) {
      await ask('/login', request, 2)
      const wait = Number((await ask('/login', request)).body.headers['Retry-After'])
      expect(wait).toBeGreaterThanOrEqual(1)
      service.clock.advance(wait * 1_000)
      expect((await ask('/login', request)).body.allowed).toBe(true)
      service.clock.advance(60_000)
    }
  })

  test('FB-037: a cost above the limit is refused for good, without a wait, and uses nothing', async () => {
    expect((await ask('/cost', {}, 5)).body).toMatchObject({ allowed: true, remaining: 5 })
    const { body } = await ask('/cost', {}, 100)
    expect(body).toMatchObject({ allowed: false, remaining: 5, retryAfterMs: null })
    expect(body.headers).not.toHaveProperty('Retry-After')
  })

  test('T59: a limit of 0 refuses everything', async () => {
    expect((await ask('/closed')).body).toMatchObject({ allowed: false, limit: 0, retryAfterMs: null })
  })

  test('FB-040: a cost of 0 looks', async () => {
    const before = service.store.size
    expect((await ask('/each', { attributes: { user: 'a', tenant: 'b' } }, 0)).body.allowed).toBe(true)
    expect(service.store.size).toBe(before)
  })
})

describe('costs', () => {
  test.each([
    ['-1', 'cost must be a whole number from 0 to 2^53−1'],
    ['1.5', 'cost must be a whole number from 0 to 2^53−1'],
    ['1e400', 'cost must be a whole number from 0 to 2^53−1'],
    ['9007199254740992', 'cost must be a whole number from 0 to 2^53−1'],
    ['"1"', 'cost must be a whole number from 0 to 2^53−1'],
    ['null', 'cost must be a whole number from 0 to 2^53−1'],
    ['true', 'cost must be a whole number from 0 to 2^53−1'],
    ['[1]', 'cost must be a whole number from 0 to 2^53−1'],
    ['NaN', 'the body is not JSON, or has a field named __proto__'],
    ['Infinity', 'the body is not JSON, or has a field named __proto__'],
    ['01', 'the body is not JSON, or has a field named __proto__'],
  ])('FB-035: %s is 400, and changes nothing', async (cost, detail) => {
    const look = { domain: 'shop', request: { path: '/cost' } }
    const before = await check(look, '?peek')
    const { status, body } = await check(`{"domain":"shop","request":{"path":"/cost"},"cost":${cost}}`)
    expect([status, body.detail]).toEqual([400, detail])
    expect(await check(look, '?peek').then((after) => after.body)).toEqual(before.body)
  })

  test('2^53−1 and 1e2 are costs like any other', async () => {
    expect((await ask('/free', {}, Number.MAX_SAFE_INTEGER)).status).toBe(200)
    expect((await check('{"domain":"shop","request":{"path":"/cost"},"cost":1e2}')).body.allowed).toBe(false)
  })
})

describe('keys', () => {
  const keys = {
    'FB-071 __proto__': '__proto__',
    constructor: 'constructor',
    'FB-070 control characters': 'a\r\n\0b',
    'FB-070 10 KB': 'x'.repeat(10_240),
    'another 10 KB': `${'x'.repeat(10_239)}y`,
    'separators |': 'a|b',
    'separators :': 'a:b',
    emoji: '👩‍👩‍👧',
    'a lone surrogate': '\ud800',
    'another lone surrogate': '\udfff',
    blank: ' ',
  }
  test.each(Object.entries(keys))('%s is a key with a counter of its own', async (_name, user) => {
    const request = { attributes: { user, tenant: 't' } }
    expect((await ask('/each', request)).body.allowed).toBe(true)
    expect((await ask('/each', request)).body.allowed).toBe(false)
  })

  test('FB-067: parts that join alike are two keys', async () => {
    expect((await ask('/each', { attributes: { user: 'p:q', tenant: 'r' } })).body.allowed).toBe(true)
    expect((await ask('/each', { attributes: { user: 'p', tenant: 'q:r' } })).body.allowed).toBe(true)
  })

  test('T60: who lacks a part, or has an empty one, shares no bucket: the limit does not apply', async () => {
    for (const attributes of [{ user: 'z' }, { user: 'z', tenant: '' }, {}]) {
      expect((await ask('/each', { attributes })).body).toMatchObject({ allowed: true, policies: [] })
    }
  })

  test('headers are found whatever their case, and one sent twice is joined', async () => {
    expect((await ask('/chat', { headers: { 'X-Model': 'm' } })).body.remaining).toBe(0)
    expect((await ask('/chat', { headers: { 'x-model': 'm' } })).body.allowed).toBe(false)
    expect((await ask('/chat', { headers: { 'X-MODEL': 'a', 'x-model': 'b' } })).body.allowed).toBe(true)
    expect((await ask('/chat', { headers: { 'x-model': 'a, b' } })).body.allowed).toBe(false)
  })

  test('names that every object inherits are no headers, queries or attributes', async () => {
    expect((await ask('/chat', { headers: { constructor: 'm' } })).body.policies).toEqual([])
  })
})
