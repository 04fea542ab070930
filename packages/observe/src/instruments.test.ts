import { createLimiter, StoreError } from '@sluice/limiter'
import { rateLimit } from '@sluice/limiter/adapters/fetch'
import type { Event } from '@sluice/limiter/events'
import { createPipeline } from '@sluice/limiter/pipeline'
import { compile } from '@sluice/limiter/rules'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { type OpenMetricsContentType, Registry, register } from 'prom-client'
import { afterEach, describe, expect, test } from 'vitest'
import { createInstruments } from './instruments.ts'

const PERIOD = { algorithm: 'fixed-window', period: '1d' } as const

const LOGIN = {
  name: 'login',
  key: ['ip'],
  limit: { limit: 1, period: '1d' },
  algorithm: 'fixed-window',
  cost: 1,
  mode: 'enforce',
  onLimit: 'deny',
  onStoreError: 'open',
  onMissingKey: 'skip',
  exempt: [],
  overrides: [],
  replaces: [],
} as const

afterEach(() => register.clear())

describe('instruments of an app', () => {
  test('count what becomes of calls to others, each destination up to a bound', async () => {
    const registry = new Registry()
    const { observe } = createInstruments({ registry })
    const retried = { type: 'call-retried', tries: 1, waitMs: 5 } as const
    for (let i = 0; i < 1_005; i++) observe({ ...retried, destination: `https://${i}.example` })
    observe({ ...retried, destination: 'https://7.example' })
    observe({ type: 'call-given-up', destination: 'https://7.example', tries: 3, reason: 'tries' })
    observe({ type: 'call-refused', destination: 'https://7.example', reason: 'full' })
    observe({ type: 'call-waited', destination: 'https://7.example', ms: 3 })
    observe({ type: 'destination-paused', destination: 'https://7.example', ms: 3 })
    const text = await registry.metrics()
    const counted = (labels: string): string | undefined =>
      text.split('\n').find((line) => line.includes(labels))
    expect(counted('"https://7.example",outcome="retried"')).toMatch(/ 2$/)
    for (const outcome of ['given_up', 'refused', 'waited'])
      expect(counted(`"https://7.example",outcome="${outcome}"`)).toMatch(/ 1$/)
    expect(counted('sluice_call_pauses_total{')).toMatch(/ 1$/)
    expect(counted('destination="others",outcome="retried"')).toMatch(/ 5$/)
  })

  test('count what limiters, pipelines and middleware decide, in the app’s own registry', async () => {
    const registry = new Registry()
    const { observe } = createInstruments({ registry })
    const limiter = createLimiter({ name: 'jobs', policies: { daily: { ...PERIOD, limit: 2 } }, observe })
    for (let i = 0; i < 5; i++) limiter.check('ada')
    limiter.peek('ada')
    const rules = compile([{ name: 'shop', limits: [LOGIN], descriptors: [] }])
    const pipeline = createPipeline({ rules: () => rules, store: new MemoryStore(), observe })
    for (let i = 0; i < 3; i++) pipeline.check({ domain: 'shop', request: { ip: '203.0.113.1' } })
    const limit = rateLimit({
      name: 'web',
      limit: 4,
      period: '1d',
      key: () => 'ada',
      store: new MemoryStore(),
      observe,
    })
    const web = limit.wrap(() => new Response())
    for (let i = 0; i < 7; i++) await web(new Request('http://app/'))
    const text = await registry.metrics()
    for (const line of [
      'sluice_requests_total{domain="jobs",outcome="allowed"} 2',
      'sluice_requests_total{domain="jobs",outcome="denied"} 3',
      'sluice_policy_decisions_total{domain="jobs",policy="daily",outcome="limited"} 3',
      'sluice_policy_burst_exhausted_total{domain="jobs",policy="daily"} 1',
      'sluice_requests_total{domain="shop",outcome="denied"} 2',
      'sluice_policy_decisions_total{domain="web",policy="default",outcome="limited"} 3',
      'sluice_policy_wait_seconds_count{domain="web",policy="default"} 3',
      // Of middleware alone: the others have no answer but the decision.
      'sluice_decision_duration_seconds_count{layer="app"} 7',
    ])
      expect(text).toContain(`${line}\n`)
  })

  test('are in the default registry of prom-client, where that is given, and once', async () => {
    createInstruments({ registry: register })
    expect(await register.metrics()).toContain('sluice_decision_duration_seconds_count{layer="app"} 0\n')
    expect(() => createInstruments({ registry: register })).toThrow(
      /has these metrics already: make instruments once/,
    )
  })

  test('are in a registry of OpenMetrics, too', async () => {
    const registry = new Registry<OpenMetricsContentType>()
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    const { observe } = createInstruments({ registry })
    createLimiter({ name: 'jobs', policies: { daily: { ...PERIOD, limit: 2 } }, observe }).check('ada')
    const text = await registry.metrics()
    expect(text).toContain('sluice_requests_total{domain="jobs",outcome="allowed"} 1\n')
    expect(text).toMatch(/# EOF\n$/)
  })

  test('have the figures of the store that limiters share', async () => {
    const registry = new Registry()
    const store = new MemoryStore()
    const { observe } = createInstruments({ registry, store })
    const limiter = createLimiter({ policies: { daily: { ...PERIOD, limit: 2 } }, store, observe })
    for (const key of ['ada', 'bob']) limiter.check(key)
    expect(await registry.metrics()).toContain('sluice_store_keys 2\n')
  })

  test('say that a shared store fails by the events of the middleware that has the breaker', async () => {
    const registry = new Registry()
    const memory = new MemoryStore()
    let fails = false
    const store = {
      async: true as const,
      decide: async (...args: Parameters<MemoryStore['decide']>) => {
        if (fails) throw new StoreError('gone')
        return memory.decide(...args)
      },
      settle: async () => true,
      reset: async () => undefined,
      block: async () => undefined,
      close: async () => undefined,
    }
    const { observe, stores } = createInstruments({ registry, store })
    const logger = { warn: () => undefined, error: () => undefined }
    const limit = rateLimit({ name: 'web', limit: 4, period: '1d', key: () => 'ada', store, observe, logger })
    const web = limit.wrap(() => new Response())
    await web(new Request('http://app/'))
    expect(await registry.metrics()).toContain('sluice_store_up 1\n')
    fails = true
    for (let i = 0; i < 20; i++) await web(new Request('http://app/'))
    const text = await registry.metrics()
    expect(text).toContain('sluice_store_up 0\n')
    expect(text).toContain('sluice_store_breaker_state{state="open"} 1\n')
    expect(text).toMatch(/sluice_store_failures_total [1-9]/)
    expect(stores.fallback?.state).toBe('open')
  })

  test('have bounded labels, whatever the names', async () => {
    const registry = new Registry()
    const { observe, policies, tallies } = createInstruments({ registry })
    const decision = createLimiter({ policies: { a: { ...PERIOD, limit: 9 } } }).check('ada')
    for (let i = 0; i < 5_000; i++) {
      observe({ type: 'key-missing', domain: `tenant-${i}`, policy: 'p' })
      observe({ type: 'decided', domain: `tenant-${i}`, decision, peek: false })
    }
    expect(policies.size).toBe(1_000)
    expect(tallies.domains.size).toBeLessThanOrEqual(1_001)
    expect(tallies.policies.length).toBeLessThanOrEqual(2_001)
    const all = [...tallies.domains.values()].reduce((sum, { allowed }) => sum + allowed, 0)
    expect(all).toBe(5_000)
  })
})

test('a middleware that is observed answers once for each request, with the time that it took', async () => {
  const events: Event[] = []
  const given = { name: 'web', limit: 1, period: '1d', key: () => 'ada', store: new MemoryStore() } as const
  const limit = rateLimit({ ...given, observe: (event) => void events.push(event) })
  // Met twice by one request, as by a route and by the whole app.
  const request = new Request('http://app/')
  await limit.wrap(() => limit.wrap(() => new Response())(request))(request)
  expect(events.map(({ type }) => type)).toEqual(['decided', 'answered'])
  expect(events[1]).toMatchObject({ domain: 'web', layer: 'app', ms: expect.any(Number) })
})
