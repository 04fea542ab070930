import { explainRequest } from '@sluice/limiter/rules'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answered, bench, get, post, type ServiceBench } from '../testing.ts'

const RULES = `
domain: shop
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 2/minute, block: { after: 1, within: 1m, for: 1h } }
  - name: plan
    when: { path: /plan }
    key: [tenant, api-key]
    limit: { by: plan, pro: 3/hour, otherwise: 2/day }
    algorithm: fixed-window
    overrides: [{ match: secret-key, limit: 9/hour }]
    exempt: [other-secret-key]
descriptors:
  - key: kind
    descriptors:
      - { key: to, rate_limit: { name: mails, unit: day, requests_per_unit: 1 } }
`
let service: ServiceBench
beforeAll(async () => {
  service = await bench(RULES)
})
afterAll(() => service.close())

const ask = (path: string, request: object): Promise<Answered> =>
  post(service.http, '/v1/check', { domain: 'shop', request: { path, ...request } })
const reset = (body: object): Promise<Answered> =>
  post(service.admin, '/v1/reset', { domain: 'shop', ...body })

describe('GET /v1/rules', () => {
  test('tells what is in force, and since when', async () => {
    const { body } = await get(service.admin, '/v1/rules')
    expect(body).toMatchObject({
      version: expect.stringMatching(/^[0-9a-f]{16}$/),
      since: '2026-01-01T00:00:00.000Z',
      error: null,
    })
    expect(body.domains).toMatchObject([
      {
        name: 'shop',
        since: '2026-01-01T00:00:00.000Z',
        limits: [
          { name: 'login', key: ['ip'], limit: { limit: 2 }, algorithm: 'token-bucket', mode: 'enforce' },
          { name: 'plan', limit: { by: 'plan' } },
        ],
        descriptors: [
          { path: ['kind', 'to'], name: 'mails', limit: { limit: 1 }, algorithm: 'fixed-window' },
        ],
      },
    ])
  })

  test('never tells the values that rules compare with', async () => {
    expect(JSON.stringify((await get(service.admin, '/v1/rules')).body)).not.toContain('secret')
  })

  test('tells of the mistake that keeps the files out of force, where it is and since when', async () => {
    const own = await bench(RULES)
    own.clock.advance(5_000)
    await own.folder.write('rules.yaml', RULES.replace('block:', 'blok:'))
    const { status, body } = await post(own.admin, '/v1/reload', {})
    expect([status, body.title]).toEqual([422, 'Unprocessable Entity'])
    const problem = {
      line: 4,
      column: expect.any(Number),
      message: expect.stringContaining('blok'),
      hint: 'block',
    }
    expect(body.problems).toMatchObject([problem])
    expect((await get(own.admin, '/v1/rules')).body).toMatchObject({
      since: '2026-01-01T00:00:00.000Z',
      error: { since: '2026-01-01T00:00:05.000Z', problems: [problem] },
      domains: [{ name: 'shop' }],
    })
    await own.folder.write('rules.yaml', RULES)
    expect((await post(own.admin, '/v1/reload', {})).body).toMatchObject({ result: 'unchanged' })
    expect((await get(own.admin, '/v1/rules')).body.error).toBeNull()
    await own.close()
  })
})

describe('POST /v1/reset', () => {
  test('forgets what a request’s key has used in every limit, and its block', async () => {
    const request = { ip: '203.0.113.9' }
    for (let i = 0; i < 4; i++) await ask('/login', request)
    expect((await ask('/login', request)).body).toMatchObject({ allowed: false, retryAfterMs: 3_600_000 })
    const { status, body } = await reset({ request: { path: '/login', ...request } })
    expect([status, body]).toEqual([200, { reset: ['login'] }])
    expect((await ask('/login', request)).body).toMatchObject({ allowed: true, remaining: 1 })
  })

  test('forgets one key of a policy, whatever plan it was on, and no other key', async () => {
    const of = (tenant: string, plan: string): object => ({ attributes: { tenant, 'api-key': 'k', plan } })
    for (const tenant of ['a', 'b']) for (const plan of ['free', 'pro']) await ask('/plan', of(tenant, plan))
    const explained = explainRequest(service.rules.live!.rules, 'shop', { path: '/plan', ...of('a', 'free') })
    const { key } = explained.find(({ rule }) => rule === 'plan')!
    expect(key).toMatch(/^a\|%h/)
    expect((await reset({ policy: 'plan', key })).body).toEqual({ reset: ['plan'] })
    const left = async (tenant: string, plan: string): Promise<number> =>
      (
        await post(service.http, '/v1/check?peek', {
          domain: 'shop',
          request: { path: '/plan', ...of(tenant, plan) },
        })
      ).body.remaining
    expect([
      await left('a', 'free'),
      await left('a', 'pro'),
      await left('b', 'free'),
      await left('b', 'pro'),
    ]).toEqual([2, 3, 1, 2])
  })

  test('forgets descriptors, by themselves or by the name of their limit', async () => {
    const descriptors = [
      {
        entries: [
          { key: 'kind', value: 'x' },
          { key: 'to', value: 'ada' },
        ],
      },
    ]
    const send = (): Promise<Answered> => post(service.http, '/v1/check', { domain: 'shop', descriptors })
    await send()
    expect((await reset({ descriptors })).body).toEqual({ reset: ['mails'] })
    expect((await send()).body.allowed).toBe(true)
    expect((await send()).body.allowed).toBe(false)
    expect((await reset({ policy: 'mails', key: 'x|ada' })).body).toEqual({ reset: ['mails'] })
    expect((await send()).body.allowed).toBe(true)
  })

  test.each([
    [{ domain: 'none', request: {} }, 404, 'no rules are loaded for domain "none"'],
    [{ domain: 'none', policy: 'login', key: 'k' }, 404, 'no rules are loaded for domain "none"'],
    [{ policy: 'logn', key: 'k' }, 404, 'the domain has no policy "logn"'],
    [{ policy: 'login' }, 400, 'the body must have policy and key, or a request or descriptors'],
    [
      { policy: 'login', key: 'k', request: {} },
      400,
      'the body must have policy and key, or a request or descriptors',
    ],
    [{}, 400, 'the body must have either request or descriptors'],
    [{ polcy: 'login' }, 400, 'unknown field "polcy" in the body'],
  ])('of %j is refused', async (sent, status, detail) => {
    const answer = await reset(sent)
    expect([answer.status, answer.body.detail]).toEqual([status, detail])
  })
})

describe('health', () => {
  test('is live, and ready while the store answers', async () => {
    expect(await get(service.admin, '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await get(service.admin, '/readyz')).toMatchObject({
      status: 200,
      body: { ready: true, reasons: [], warnings: [] },
    })
  })

  test('OF-24: warns while the files have a mistake, though it stays ready', async () => {
    const own = await bench(RULES)
    await own.folder.write('rules.yaml', RULES.replace('block:', 'blok:'))
    await post(own.admin, '/v1/reload', {})
    const { status, body } = await get(own.admin, '/readyz')
    expect([status, body.ready, body.reasons]).toEqual([200, true, []])
    expect(body.warnings).toEqual([
      expect.stringMatching(
        /^the rules cannot be used since 2026-01-01T00:00:00.000Z, .*rules\.yaml:4:.*blok/s,
      ),
    ])
    await own.folder.write('rules.yaml', RULES)
    await post(own.admin, '/v1/reload', {})
    expect((await get(own.admin, '/readyz')).body.warnings).toEqual([])
    await own.folder.remove()
    await post(own.admin, '/v1/reload', {})
    expect((await get(own.admin, '/readyz')).body.warnings).toHaveLength(1)
    await own.close()
  })
})
