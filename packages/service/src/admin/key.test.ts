import { afterEach, describe, expect, test } from 'vitest'
import { createService } from '../service.ts'
import { bench, get, post, type ServiceBench } from '../testing.ts'

const RULES = `
domain: shop
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 2/minute, block: { after: 5, within: 1h, for: 10m } }
  - { name: search, when: { path: /search }, key: [ip], limit: 9/minute, blockable: true }
  - name: plans
    when: { path: /plans }
    key: [user]
    limit: { by: plan, free: 2/day, pro: 10/day, otherwise: 2/day }
`
const KEY = { domain: 'shop', policy: 'login', key: '203.0.113.1' }

let service: ServiceBench | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

const check = (path: string, more: object = {}) =>
  post(service!.http, '/v1/check', { domain: 'shop', request: { path, ip: KEY.key, ...more } })
const urlOf = (named: object): string => `/v1/key?${new URLSearchParams(named as Record<string, string>)}`

describe('one key of a policy', () => {
  test('is looked at without a charge', async () => {
    service = await bench(RULES)
    await check('/login')
    for (let i = 0; i < 2; i++) {
      const { status, body } = await get(service.admin, urlOf(KEY))
      expect(status).toBe(200)
      expect(body).toMatchObject({
        ...KEY,
        figures: [
          { policy: 'login', allowed: true, limit: 2, remaining: 1, blockable: true, degraded: false },
        ],
      })
    }
  })

  test('is blocked for a time, and unblocked', async () => {
    service = await bench(RULES)
    expect((await post(service.admin, '/v1/block', { ...KEY, duration: '10m' })).body).toEqual({
      blocked: 'login',
      duration: '10m',
    })
    expect((await check('/login')).body).toMatchObject({
      allowed: false,
      reason: 'block',
      retryAfterMs: 600_000,
    })
    expect((await get(service.admin, urlOf(KEY))).body.figures[0]).toMatchObject({ blocked: true })
    expect((await post(service.admin, '/v1/unblock', KEY)).body).toEqual({ unblocked: 'login' })
    expect((await check('/login')).body).toMatchObject({ allowed: true })
  })

  test('is blocked in a limit without a block of its own, where it may be', async () => {
    service = await bench(RULES)
    expect((await check('/search')).body.allowed).toBe(true)
    expect(
      (await post(service.admin, '/v1/block', { ...KEY, policy: 'search', duration: '1m' })).status,
    ).toBe(200)
    expect((await check('/search')).body).toMatchObject({ allowed: false, reason: 'block', remaining: 0 })
    service.clock.advance(60_000)
    expect((await check('/search')).body.allowed).toBe(true)
  })

  test.each([
    ['/v1/block', { ...KEY, policy: 'plans', duration: '1m' }, 400, /"plans" cannot block/],
    ['/v1/block', KEY, 400, /duration must be text/],
    ['/v1/block', { ...KEY, duration: '1 month' }, 400, /not a duration/],
    ['/v1/block', { ...KEY, duration: '1m', kye: 'x' }, 400, /there is no kye here/],
    ['/v1/unblock', { ...KEY, policy: 'logn' }, 404, /no policy "logn"/],
    ['/v1/unblock', { ...KEY, domain: 'shp' }, 404, /no rules are loaded for domain "shp"/],
    ['/v1/unblock', { domain: 'shop', policy: 'login' }, 400, /key must be text/],
  ])('POST %s of %j answers %i', async (path, body, status, detail) => {
    service = await bench(RULES)
    const answer = await post(service.admin, path, body)
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringMatching(detail)])
  })
})

describe('the admin token', () => {
  const TOKEN = 'a-token-of-the-test'

  test('is asked for by every call that says or changes something', async () => {
    service = await bench(RULES, { adminToken: TOKEN })
    const ask = async (url: string, authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization }
      return (await service!.admin.inject({ method: 'GET', url, headers })).statusCode
    }
    for (const url of ['/metrics', '/v1/rules', '/v1/offenders', urlOf(KEY), '/v1/live', '/v1/nothing']) {
      expect([url, await ask(url)]).toEqual([url, 401])
      expect([url, await ask(url, `Bearer ${TOKEN}x`)]).toEqual([url, 401])
      if (url !== '/v1/live') expect(await ask(url, `Bearer ${TOKEN}`)).not.toBe(401)
    }
    expect((await post(service.admin, '/v1/block', { ...KEY, duration: '1m' })).status).toBe(401)
    expect((await post(service.admin, '/v1/reset', KEY)).status).toBe(401)
    for (const url of ['/healthz', '/readyz']) expect([url, await ask(url)]).toEqual([url, 200])
  })

  test('must be long enough', () => {
    expect(() => createService({ rules: ['rules'], adminToken: 'short' })).toThrow(
      /adminToken must be a text of 16/,
    )
  })
})
