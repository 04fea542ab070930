import { readAnswer, readBatchAnswer, readReserveAnswer } from '@sluice/limiter/wire'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bench, GatedStore, post, type ServiceBench } from '../testing.ts'

const RULES = `
domain: shop
limits:
  - { name: spent, when: { path: /spent }, key: [], limit: 0/minute }
  - { name: blocked, when: { path: /blocked }, key: [], limit: 1/minute, block: { after: 1, within: 1m, for: 1h } }
  - { name: keyed, when: { path: /keyed }, key: [user], limit: 9/minute, on_missing_key: deny }
  - { name: guarded, when: { path: /guarded }, key: [], limit: 9/minute, on_store_error: closed }
`
let service: ServiceBench
let broken: ServiceBench
beforeAll(async () => {
  service = await bench(RULES)
  const store = Object.assign(new GatedStore(), { decide: () => Promise.reject(new Error('down')) })
  broken = await bench(RULES, { store })
})
afterAll(() => Promise.all([service.close(), broken.close()]))

const CASES = [
  { path: '/spent', status: 429, reason: 'quota' },
  { path: '/blocked', status: 429, reason: 'block' },
  { path: '/keyed', status: 403, reason: 'missing-key' },
  { path: '/guarded', status: 503, reason: 'store' },
] as const

describe('OF-60 a refusal says why, and what to answer', () => {
  test.each(CASES)('$status for $reason', async ({ path, status, reason }) => {
    const { http } = reason === 'store' ? broken : service
    const body = { domain: 'shop', request: { path }, cost: 2 }
    if (reason === 'block') await post(http, '/v1/check', body)
    const said = { allowed: false, status, reason }
    for (const query of ['', '?peek']) {
      const checked = await post(http, `/v1/check${query}`, body)
      expect(checked.status).toBe(200)
      expect(readAnswer(checked.body)).toMatchObject(said)
      const batch = await post(http, `/v1/check/batch${query}`, [body, { domain: 'none', request: {} }])
      expect(readBatchAnswer(batch.body)).toMatchObject([said, { status: 404, title: 'Not Found' }])
    }
    expect(readReserveAnswer((await post(http, '/v1/reserve', body)).body)).toMatchObject({
      ...said,
      id: null,
    })
  })

  test('an admission says neither', async () => {
    const body = { domain: 'shop', request: { path: '/keyed', attributes: { user: 'ada' } } }
    for (const call of ['check', 'reserve']) {
      const answer = (await post(service.http, `/v1/${call}`, body)).body
      expect(answer.allowed).toBe(true)
      expect(answer).not.toHaveProperty('status')
      expect(answer).not.toHaveProperty('reason')
    }
  })
})

test('OF-09 an address that cannot be read is 400 with its place, and never an answer without a limit', async () => {
  const own = await bench('domain: d\nlimits: [{ name: n, key: [ip], limit: 1/hour }]\n')
  for (const ip of ['192.0.2.1, 10.0.0.1', '192.0.2.999', '0x7f000001']) {
    const body = { domain: 'd', request: { ip } }
    for (const call of ['check', 'check?peek', 'reserve']) {
      const { status, body: said } = await post(own.http, `/v1/${call}`, body)
      expect([status, said.detail]).toEqual([
        400,
        `request.ip must be one address, not ${JSON.stringify(ip)}`,
      ])
    }
    expect((await post(own.http, '/v1/check/batch', [body])).body).toMatchObject([{ status: 400 }])
  }
  await own.close()
})

test('OF-26 an answer lists the limits passed over for want of a key', async () => {
  const own = await bench(`
domain: d
limits:
  - { name: by attribute, key: [api-key], limit: 1/hour }
  - { name: by header, key: ["header:x-api-key"], limit: 1/hour }
  - { name: by tenant, key: [tenant], limit: 1/hour }
`)
  const body = { domain: 'd', request: { headers: { 'X-Api-Key': 'k' } } }
  const passedOver = ['by attribute', 'by tenant']
  const answers = [
    (await post(own.http, '/v1/check', body)).body,
    (await post(own.http, '/v1/reserve', body)).body,
    (await post(own.http, '/v1/check/batch', [body])).body[0],
  ]
  for (const answer of answers) expect(answer).toMatchObject({ policy: 'by header', passedOver })
  expect((await post(own.http, '/v1/check', { domain: 'd', request: {} })).body.passedOver).toHaveLength(3)
  await own.close()
})

describe('OF-66 what a request brings is bounded', () => {
  const entries = Array.from({ length: 128 }, () => ({ key: '"'.repeat(16_384), value: 'v' }))
  const limit = { requests_per_unit: 9_007_199_254_740_991, unit: 'year' }

  test.each(['ietf', 'ietf-next', 'draft-03', 'draft-06', 'draft-07', 'x-ratelimit', 'github'] as const)(
    'headers of %s, however many limits it has',
    async (dialect) => {
      const own = await bench(RULES, {
        respond: { dialect },
        bounds: { maxBodyBytes: 30_000_000, maxBytesInFlight: 100_000_000 },
      })
      for (const spent of [false, true]) {
        const descriptors = Array.from({ length: 128 }, (_, i) => ({
          entries: [{ key: `${i}${'\\'.repeat(2_000)}`, value: 'v' }, ...entries.slice(0, 2)],
          limit: { ...limit, requests_per_unit: spent && i === 77 ? 0 : limit.requests_per_unit - i },
        }))
        const { body } = await post(own.http, '/v1/check', { domain: 'shop', descriptors })
        expect(body).toMatchObject({ allowed: !spent })
        for (const value of Object.values<string>(body.headers)) expect(value.length).toBeLessThan(5_000)
        if (spent && dialect.startsWith('ietf')) expect(body.headers['RateLimit-Policy']).toContain('";q=0;')
      }
      await own.close()
    },
  )

  test.each(['a\nb', 'a\u0000', '\u2028', '\ud800', 'd'.repeat(257), 'd'.repeat(100_000)])(
    'a domain: %j',
    async (domain) => {
      for (const call of ['check', 'reserve']) {
        const { status, body } = await post(service.http, `/v1/${call}`, { domain, request: {} })
        expect([status, body.detail]).toEqual([
          400,
          'domain must be text of at most 256 characters, without control characters',
        ])
      }
    },
  )
})
