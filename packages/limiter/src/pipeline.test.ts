import { describe, expect, it } from 'vitest'
import { compile } from './core/match/compile.ts'
import type { Limit } from './core/match/domain.ts'
import { limit } from './core/match/limit.samples.ts'
import type { Event } from './observe/events.ts'
import { BadQuestion, createPipeline, UnknownDomain } from './pipeline.ts'
import { MemoryStore } from './stores/memory.ts'
import { FakeClock } from './testing.ts'

function setUp(...limits: (Partial<Limit> & Pick<Limit, 'name' | 'limit'>)[]) {
  const domain = {
    name: 'shop',
    descriptors: [],
    limits: limits.map((own) => limit({ key: ['ip'], ...own })),
  }
  let rules = compile([domain])
  const events: Event[] = []
  const clock = new FakeClock()
  const pipeline = createPipeline({
    rules: () => rules,
    store: new MemoryStore({ clock }),
    observe: (event) => events.push(event),
    wallClock: () => clock.now() / 1_000,
  })
  const reload = (change: Partial<Limit>) => {
    rules = compile([{ ...domain, limits: domain.limits.map((old) => ({ ...old, ...change })) }])
  }
  return {
    pipeline,
    events,
    clock,
    reload,
    ask: (ip?: string) => pipeline.check({ domain: 'shop', request: ip === undefined ? {} : { ip } }),
  }
}

describe('pipeline', () => {
  it('takes a request from its identity to what the client and every watcher are told', () => {
    const { ask, events } = setUp({ name: 'all', limit: { limit: 1, period: '1m' } })
    expect(ask('192.0.2.1').response.status).toBe(200)
    const { decision, response } = ask('192.0.2.1')
    expect(decision).toMatchObject({ allowed: false, policy: 'all', retryAfterMs: 60_000 })
    expect(response.status).toBe(429)
    expect(response.headers).toContainEqual(['RateLimit', '"all";r=0;t=60'])
    expect(response.headers).toContainEqual(['Retry-After', '60'])
    expect(events.map(({ type }) => type)).toEqual(['decided', 'decided'])
  })

  it('tells watchers of a rule that a request could not be counted by', () => {
    const { ask, events } = setUp({ name: 'all', limit: { limit: 1, period: '1m' } })
    expect(ask().decision).toMatchObject({ allowed: true, policy: '' })
    expect(events[0]).toEqual({ type: 'key-missing', domain: 'shop', policy: 'all' })
  })

  it('refuses an unknown domain and a cost that is none', () => {
    const { pipeline } = setUp({ name: 'all', limit: { limit: 1, period: '1m' } })
    expect(() => pipeline.check({ domain: '__proto__', request: {} })).toThrow(UnknownDomain)
    expect(() => pipeline.check({ domain: 'shop', request: {}, cost: -1 })).toThrow(BadQuestion)
  })

  it('FB-049: a refusal carries the figures of the limit that refused', () => {
    const { ask, clock } = setUp(
      { name: 'requests', limit: { limit: 60, period: '1m' } },
      { name: 'spend', limit: { limit: 3, period: '1h' } },
    )
    clock.advance(600_000)
    for (let i = 0; i < 3; i++) ask('192.0.2.1')
    const { decision, response } = ask('192.0.2.1')
    expect(decision).toMatchObject({ policy: 'spend', remaining: 0, retryAfterMs: 3_000_000 })
    expect(response.headers).toContainEqual(['Retry-After', '3000'])
  })

  it('lengthens Retry-After by the rule’s jitter, differently for each key, and never shortens it', () => {
    const { ask } = setUp(
      { name: 'all', limit: { limit: 0, period: '1m' } },
      { name: 'j', jitter: 0.5, limit: { limit: 1, period: '1h' } },
    )
    const waits = Array.from({ length: 20 }, (_, i) => {
      const { pipeline } = setUp({ name: 'j', jitter: 0.5, limit: { limit: 1, period: '1h' } })
      const question = { domain: 'shop', request: { ip: `192.0.2.${i}` } }
      pipeline.check(question)
      const header = pipeline.check(question).response.headers.find(([name]) => name === 'Retry-After')
      return Number(header![1])
    })
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(3_600)
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_400)
    expect(new Set(waits).size).toBeGreaterThan(10)
    expect(ask('192.0.2.1').response.headers.some(([name]) => name === 'Retry-After')).toBe(false)
  })

  it('FB-084: a reload applies the new limit at once and keeps what was used', () => {
    const { ask, pipeline, reload } = setUp({ name: 'all', limit: { limit: 20, period: '1h' } })
    for (let i = 0; i < 15; i++) ask('192.0.2.1')
    const peek = () => pipeline.peek({ domain: 'shop', request: { ip: '192.0.2.1' } }).decision.remaining
    reload({ limit: { limit: 40, period: '1h' } })
    expect(peek()).toBe(25)
    reload({ limit: { limit: 10, period: '1h' } })
    expect(peek()).toBe(0)
  })

  it('OF-13: what is over a limit that only deprioritizes has its figures, and a mark for the next hop alone', () => {
    const { ask } = setUp({ name: 'all', onLimit: 'deprioritize', limit: { limit: 1, period: '1m' } })
    expect(ask('192.0.2.1').decision).toMatchObject({ policy: 'all', limit: 1, remaining: 0 })
    const { decision, response } = ask('192.0.2.1')
    expect(decision).toMatchObject({ allowed: true, policy: 'all', limit: 1, remaining: 0, retryAfterMs: 0 })
    expect(decision).toMatchObject({ priority: 'low', moreAfterMs: 60_000, resetAfterMs: 60_000 })
    expect(decision.policies).toMatchObject([{ policy: 'all', allowed: false, deprioritizes: true }])
    expect(decision.policies[0]).not.toHaveProperty('shadow')
    expect(response).toMatchObject({ status: 200, upstreamHeaders: [['Sluice-Priority', 'low']] })
    expect(response.headers.map(([name]) => name)).toEqual(['RateLimit-Policy', 'RateLimit'])
  })

  it('OF-13: a limit that can refuse decides, whatever those say that only deprioritize or report', () => {
    const limit = { limit: 1, period: '1m' }
    const { ask } = setUp(
      { name: 'low', onLimit: 'deprioritize', limit },
      { name: 'shadow', mode: 'shadow', limit },
      { name: 'own', limit: { limit: 2, period: '1m' } },
    )
    const decisions = [ask('192.0.2.1'), ask('192.0.2.1'), ask('192.0.2.1')].map(({ decision }) => decision)
    expect(decisions.map(({ allowed, policy, priority }) => [allowed, policy, priority])).toEqual([
      [true, 'own', undefined],
      [true, 'own', 'low'],
      [false, 'own', undefined],
    ])
  })

  it('OF-13: never waits for a limit that only deprioritizes, and of several shows the one with the least left', () => {
    const queue = { name: 'queue', onLimit: 'deprioritize', algorithm: 'leaky-bucket' } as const
    const { ask } = setUp(
      { ...queue, limit: { limit: 5, period: '1m' } },
      { name: 'few', onLimit: 'deprioritize', limit: { limit: 3, period: '1m' } },
    )
    ask('192.0.2.1')
    expect(ask('192.0.2.1').decision).toMatchObject({ policy: 'few', remaining: 1, delayMs: 0 })
    const alone = setUp({ ...queue, limit: { limit: 5, period: '1m' } })
    alone.ask('192.0.2.1')
    expect(alone.ask('192.0.2.1').decision).toMatchObject({ policy: 'queue', remaining: 3, delayMs: 0 })
  })
})
