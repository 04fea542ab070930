import { StoreError } from '@sluice/limiter'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import type { Store } from '@sluice/limiter/stores/store'
import { afterEach, expect, test } from 'vitest'
import { type Answered, bench, get, post, type ServiceBench } from '../testing.ts'
import { scrape } from './scrape.test-support.ts'

const RULES = `
domain: shop
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 2/minute, soft: 50%, on_store_error: closed }
  - { name: watched, when: { path: /watched }, key: [], limit: 1/minute, mode: shadow }
  - { name: low, when: { path: /low }, key: [], limit: 1/minute, on_limit: deprioritize }
  - { name: user, when: { path: /user }, key: [user], limit: 1/minute }
descriptors:
  - { key: to, detailed_metric: true, rate_limit: { unit: day, requests_per_unit: 1 } }
`
const opened: ServiceBench[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function open(options: Parameters<typeof bench>[1] = {}): Promise<ServiceBench> {
  const service = await bench(RULES, options)
  opened.push(service)
  return service
}

const check = (service: ServiceBench, path: string, more: object = {}): Promise<Answered> =>
  post(service.http, '/v1/check', { domain: 'shop', request: { path, ...more } })
const decisions = (policy: string, outcome: string): string =>
  `sluice_policy_decisions_total{domain="shop",policy="${policy}",outcome="${outcome}"}`

test('counts what each policy said, soft marks, missing keys, and what shadows would have said', async () => {
  const service = await open()
  for (let i = 0; i < 5; i++) await check(service, '/login', { ip: '203.0.113.1' })
  for (let i = 0; i < 3; i++) await check(service, '/watched')
  await check(service, '/user')
  const samples = await scrape(service)
  expect(samples.get(decisions('login', 'allowed'))).toBe(2)
  expect(samples.get(decisions('login', 'limited'))).toBe(3)
  expect(samples.get(decisions('login', 'degraded'))).toBe(0)
  expect(samples.get(decisions('watched', 'allowed'))).toBe(1)
  expect(samples.get(decisions('watched', 'would_limit'))).toBe(2)
  expect(samples.get('sluice_policy_soft_total{domain="shop",policy="login"}')).toBe(5)
  expect(samples.get('sluice_policy_key_missing_total{domain="shop",policy="user"}')).toBe(1)
  expect(samples.get('sluice_requests_total{domain="shop",outcome="allowed"}')).toBe(6)
  expect(samples.get('sluice_requests_total{domain="shop",outcome="denied"}')).toBe(3)
  expect(samples.get('sluice_decision_duration_seconds_count{layer="service"}')).toBe(9)
  expect(samples.get('sluice_store_keys')).toBe(2)
  expect(samples.get('sluice_store_bytes')).toBeGreaterThan(100)
  expect(samples.get('sluice_rules_reloads_total{result="changed"}')).toBe(1)
  expect(samples.get('sluice_rules_last_reload_successful')).toBe(1)
})

test('OF-13, acceptance 6.3: counts what was admitted at low priority by itself, not as a shadow or a refusal', async () => {
  const service = await open()
  for (let i = 0; i < 3; i++) await check(service, '/low')
  const samples = await scrape(service)
  const outcomes = ['allowed', 'limited', 'would_limit', 'deprioritized', 'degraded']
  expect(outcomes.map((outcome) => samples.get(decisions('low', outcome)))).toEqual([1, 0, 0, 2, 0])
  expect(samples.get('sluice_requests_total{domain="shop",outcome="allowed"}')).toBe(3)
})

test('looking is not counted, and does not count twice when scraped twice', async () => {
  const service = await open()
  await check(service, '/login', { ip: '203.0.113.1' })
  await post(service.http, '/v1/check?peek', {
    domain: 'shop',
    request: { path: '/login', ip: '203.0.113.1' },
  })
  await scrape(service)
  expect((await scrape(service)).get(decisions('login', 'allowed'))).toBe(1)
})

test('labels come from the rulebook alone, whatever clients send', async () => {
  const service = await open()
  for (let i = 0; i < 50; i++) {
    await check(service, `/login`, { ip: `203.0.113.${i}` })
    await post(service.http, '/v1/check', { domain: `domain ${i}`, request: {} })
    const descriptors = [
      { entries: [{ key: 'to', value: `someone ${i}` }] },
      { entries: [{ key: `key ${i}`, value: '' }], limit: { requests_per_unit: 1, unit: 'day' } },
    ]
    await post(service.http, '/v1/check', { domain: 'shop', descriptors })
  }
  const text = [...(await scrape(service)).keys()].join('\n')
  const policies = new Set([...text.matchAll(/policy="([^"]*)"/g)].map(([, policy]) => policy))
  expect(policies).toEqual(new Set(['login', 'to', 'others']))
  expect(new Set([...text.matchAll(/domain="([^"]*)"/g)].map(([, domain]) => domain))).toEqual(
    new Set(['shop']),
  )
})

const breakerStates = (samples: ReadonlyMap<string, number>): unknown =>
  ['closed', 'open', 'probing'].map((state) => samples.get(`sluice_store_breaker_state{state="${state}"}`))

/** Fails whenever it is told to. */
class FailingStore implements Store<true> {
  readonly async = true as const
  readonly #store = new MemoryStore()
  failing = false
  hanging = false

  async decide(...args: Parameters<MemoryStore['decide']>): ReturnType<Store<true>['decide']> {
    if (this.hanging) await new Promise(() => undefined)
    if (this.failing) throw new StoreError('gone', { cause: new Error('at 10.0.0.1') })
    return this.#store.decide(...args)
  }
  async settle(...args: Parameters<MemoryStore['settle']>): Promise<boolean> {
    if (this.failing) throw new StoreError('gone')
    return this.#store.settle(...args)
  }
  async reset(...args: Parameters<MemoryStore['reset']>): Promise<void> {
    this.#store.reset(...args)
  }
  async block(...args: Parameters<MemoryStore['block']>): Promise<void> {
    this.#store.block(...args)
  }
  async close(): Promise<void> {
    this.#store.close()
  }
}

test('acceptance 6.3: a store that fails is counted, each reason told once, and a warning; what is not known is null', async () => {
  const store = new FailingStore()
  let now = 0
  const lines: string[] = []
  const told = () => lines.map((line) => JSON.parse(line) as { msg: string; reason?: string })
  const log = { stream: { write: (line: string) => void lines.push(line) } }
  const service = await open({ store, log, fallback: { failures: 4, now: () => now } })
  const reserved = await post(service.http, '/v1/reserve', {
    domain: 'shop',
    request: { path: '/user', attributes: { user: 'a' } },
  })
  store.failing = true
  const closed = await post(service.http, '/v1/check', {
    domain: 'shop',
    request: { path: '/login', ip: '203.0.113.1' },
  })
  const unknown = { remaining: null, moreAfterMs: null, resetAfterMs: null }
  expect(closed).toMatchObject({
    status: 200,
    body: {
      allowed: false,
      degraded: true,
      limit: 2,
      ...unknown,
      policies: [{ policy: 'login', limit: 2, ...unknown }],
      headers: { 'Retry-After': '1' },
    },
  })
  expect(Object.keys(closed.body.headers)).toEqual(['Retry-After', 'Cache-Control'])
  const admitted = await check(service, '/watched')
  expect(admitted).toMatchObject({ body: { allowed: true, degraded: true, headers: {} } })
  expect(admitted.body.policies).toMatchObject([{ allowed: true, ...unknown }])
  expect(await post(service.http, '/v1/commit', { id: reserved.body.id, cost: 1 })).toMatchObject({
    status: 503,
    body: { detail: 'the store does not answer' },
  })
  const ready = await service.admin.inject({ method: 'GET', url: '/readyz' })
  expect([ready.statusCode, ready.json()]).toEqual([
    200,
    { ready: true, reasons: [], warnings: ['the store does not answer'] },
  ])
  const samples = await scrape(service)
  expect(samples.get(decisions('login', 'degraded'))).toBe(1)
  expect(samples.get(decisions('login', 'limited'))).toBe(0)
  expect(samples.get('sluice_requests_degraded_total{domain="shop"}')).toBe(2)
  expect(samples.get('sluice_store_answer_duration_seconds_count')).toBe(1)
  expect(samples.get('sluice_store_failures_total')).toBe(4)
  expect(samples.get('sluice_store_up')).toBe(0)
  expect(breakerStates(samples)).toEqual([0, 1, 0])

  store.failing = false
  now = 500
  const again = await scrape(service)
  expect(again.get('sluice_store_up')).toBe(1)
  expect(breakerStates(again)).toEqual([1, 0, 0])
  expect(told().filter(({ msg }) => msg.startsWith('the store'))).toMatchObject([
    { msg: 'the store did not answer a question', reason: 'gone: at 10.0.0.1' },
    { msg: 'the store did not answer a question', reason: 'gone' },
    { msg: 'the store fails', reason: 'gone: at 10.0.0.1' },
    { msg: 'the store works again' },
  ])
})

test('answers that come too late are counted among the failures, and by themselves', async () => {
  const store = new FailingStore()
  const service = await open({ store, fallback: { deadlineMs: 1, failures: 1_000 } })
  const counts = async (): Promise<unknown[]> => {
    const samples = await scrape(service)
    return ['timeouts', 'failures'].map((name) => samples.get(`sluice_store_${name}_total`))
  }
  store.hanging = true
  await check(service, '/low')
  store.hanging = false
  expect(await counts()).toEqual([1, 1])
  store.failing = true
  await check(service, '/low')
  store.failing = false
  expect(await counts()).toEqual([1, 2])
})

test('a store that fails turns the service unready where it was told so', async () => {
  const store = new FailingStore()
  const service = await open({ store, readiness: 'store' })
  const ready = (): Promise<unknown> => get(service.admin, '/readyz')
  expect(await ready()).toMatchObject({ status: 200, body: { ready: true } })
  store.failing = true
  expect(await ready()).toMatchObject({
    status: 503,
    body: { ready: false, reasons: ['the store does not answer'], warnings: [] },
  })
})

test.each([
  [{}, 2],
  [{ denyCache: false }, 0],
])(
  'refusals of a shared store are repeated and counted, unless told otherwise: %j',
  async (options, repeats) => {
    const service = await open({ store: new FailingStore(), ...options })
    for (let i = 0; i < 4; i++) await check(service, '/user', { attributes: { user: 'a' } })
    const samples = await scrape(service)
    expect(samples.get(decisions('user', 'limited'))).toBe(3)
    expect(samples.get('sluice_store_repeated_refusals_total') ?? 0).toBe(repeats)
    expect(samples.get('sluice_store_answer_duration_seconds_count')).toBe(4 - repeats)
  },
)

test('at debug every decision is told, by policy and outcome, without the key', async () => {
  const lines: string[] = []
  const log = { level: 'debug' as const, stream: { write: (line: string) => void lines.push(line) } }
  const service = await open({ log })
  for (let i = 0; i < 3; i++)
    await check(service, '/login', { ip: '203.0.113.77', headers: { authorization: 'Bearer s3cret' } })
  const told = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'decided')
  expect(told).toHaveLength(3)
  expect(told[2]).toMatchObject({ domain: 'shop', policy: 'login', allowed: false, limited: ['login'] })
  expect(lines.join('')).not.toMatch(/203\.0\.113\.77|s3cret/)
})
