import type { Event } from '@sluice/limiter/events'
import { createPipeline } from '@sluice/limiter/pipeline'
import { compile } from '@sluice/limiter/rules'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { WireError } from '@sluice/limiter/wire'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadText } from '../../../rulebook/src/index.ts'
import { type ServiceInProcess, serviceInProcess } from './service.test-support.ts'
import { createServiceClient } from './service-client.ts'
import type { ServiceClientOptions } from './service-client-options.ts'
import { ProblemError, ServiceError } from './service-errors.ts'
import type { ServiceClient } from './service-verbs.ts'

const RULES = `
domain: shop
limits:
  - { name: login, key: [ip], limit: 5/minute, algorithm: fixed-window, when: { path: /login } }
  - { name: burst, key: [user], limit: 2/second, algorithm: gcra, when: { path: /burst } }
  - { name: guarded, key: [user], limit: 1/minute, when: { path: /guarded }, block: { after: 2, within: 1m, for: 1h } }
  - { name: tokens, key: [tenant], limit: 1000/minute, cost: attribute:tokens, when: { path: /chat } }
`

let service: ServiceInProcess
const events: Event[] = []
const login = (ip = '192.0.2.1'): { request: { path: string; ip: string } } => ({
  request: { path: '/login', ip },
})
const at = (path: string): { request: { path: string; attributes: { user: string } } } => ({
  request: { path, attributes: { user: 'ada' } },
})

function client(options: Partial<ServiceClientOptions> = {}): ServiceClient {
  return createServiceClient({
    url: 'http://service',
    domain: 'shop',
    fetch: service.fetch,
    now: service.now,
    observe: (event) => events.push(event),
    ...options,
  }) as unknown as ServiceClient
}

beforeEach(async () => {
  service = await serviceInProcess(RULES)
  events.length = 0
})
afterEach(() => service.close())

describe('service client', () => {
  it('says what is no question, and asks nothing', async () => {
    const wrong = client() as unknown as Record<'check' | 'batch', (given?: unknown) => Promise<unknown>>
    await expect(wrong.check()).rejects.toThrow('the body must have either request or descriptors')
    await expect(wrong.batch()).rejects.toThrow(new TypeError('questions must be a list'))
    expect(events).toEqual([])
  })

  it('answers as the service does', async () => {
    const answer = await client().check(login())
    expect(answer).toMatchObject({ allowed: true, policy: 'login', limit: 5, remaining: 4, degraded: false })
    expect(answer.headers.RateLimit).toBe('"login";r=4;t=60')
    expect(await client().peek(login())).toMatchObject({ remaining: 4 })
    expect(await client().check(at('/nowhere'))).toMatchObject({
      limit: Number.POSITIVE_INFINITY,
      remaining: Number.POSITIVE_INFINITY,
    })
  })

  it('sends the questions of one tick as one call, and no more than 1,000 in each', async () => {
    const one = client()
    const asking = Array.from({ length: 10_000 }, (_, i) => one.check(login(`10.0.${i >> 8}.${i % 256}`)))
    await Promise.all(asking)
    expect(service.sent.map(({ path }) => path)).toEqual(new Array(10).fill('/v1/check/batch'))
    expect(service.sent.map(({ body }) => JSON.parse(body).length)).toEqual(new Array(10).fill(1_000))
  })

  it('splits what is too large for one body, and what has its own bounds', async () => {
    const long = (i: number): object => ({ request: { path: '/login', query: { q: 'x'.repeat(9_000) + i } } })
    await client().batch(Array.from({ length: 200 }, (_, i) => long(i)) as never)
    expect(service.sent).toHaveLength(2)
    await client({ maxBatch: 2 }).batch([login('10.0.0.1'), login('10.0.0.2'), login('10.0.0.3')])
    expect(service.sent).toHaveLength(4)
  })

  it('while as many calls are under way as may be, those that come meanwhile travel together', async () => {
    const one = client({ maxInFlight: 1 })
    const first = one.check(login('10.0.0.1'))
    await Promise.resolve()
    await Promise.resolve()
    const others = ['10.0.0.2', '10.0.0.3'].map(async (ip) => {
      await Promise.resolve()
      return one.check(login(ip))
    })
    await Promise.all([first, ...others])
    expect(service.sent.map(({ body }) => JSON.parse(body).length)).toEqual([1, 2])
  })

  it('does not send what is wrong, and says what the service finds wrong', async () => {
    await expect(client().check({ ...login(), cost: -1 })).rejects.toThrow(WireError)
    await expect(client().check({ requst: {} } as never)).rejects.toThrow('unknown field "requst"')
    expect(service.sent).toHaveLength(0)
    const unknown = client().check({ ...login(), domain: 'nowhere' })
    await expect(unknown).rejects.toMatchObject({ name: 'ProblemError', status: 404 })
    const answers = await client().batch([
      { ...login(), domain: 'nowhere' },
      { request: { path: '/login', ip: 'no address' } },
      login(),
      { cost: 0.5, ...login() },
    ])
    expect(answers.map((each) => ('allowed' in each ? each.allowed : each.constructor))).toEqual([
      ProblemError,
      ProblemError,
      true,
      WireError,
    ])
    await expect(client().check(login(), { onEror: 'open' } as never)).rejects.toThrow(TypeError)
    await expect(client().check(login(), { onError: 'opne' } as never)).rejects.toThrow(TypeError)
  })

  it('reserves, and settles once', async () => {
    const asking = { request: { path: '/chat', attributes: { tenant: 'acme', tokens: 400 } } }
    const one = client()
    const { id, remaining } = await one.reserve(asking)
    expect(remaining).toBe(600)
    expect(await one.commit(id, { costs: { tokens: 100 } })).toBe(true)
    expect(await one.peek(asking)).toMatchObject({ remaining: 900 })
    expect(await one.cancel(id)).toBe(false)
    expect(await one.cancel(null)).toBe(false)
    const other = await one.reserve(asking, { ttlMs: 1_000 })
    expect(await one.cancel(other.id)).toBe(true)
    await expect(one.commit('nonsense', { cost: 1 })).rejects.toThrow(ProblemError)
    await expect(one.reserve(asking, { ttlMs: 0 })).rejects.toThrow('ttl_ms must be a whole number from 1')
  })

  it('sends a token, to a path of a proxy too', async () => {
    await client({ url: 'http://service/', token: 'secret' }).check(login())
    expect(service.sent[0]).toMatchObject({ path: '/v1/check/batch' })
    expect(service.sent[0]!.headers.get('authorization')).toBe('Bearer secret')
  })

  it.each([
    [{ url: 'ftp://x' }, 'url must be a URL of http or https'],
    [{ url: 'http://user:pass@x' }, 'without user'],
    [{ deadlineMs: 0 }, 'deadlineMs'],
    [{ maxBatch: 1_001 }, 'maxBatch must be a whole number from 1 to 1000'],
    [{ onError: 'local' }, 'local must be given'],
    [{ lease: {} }, 'lease.units must be given'],
    [{ onEror: 'open' }, 'did you mean onError?'],
    [{ token: 'a\nb' }, 'token must be visible ASCII'],
  ])('refuses the options %j', (options, message) => {
    expect(() => client(options as never)).toThrow(message)
  })
})

describe('a refusal', () => {
  const refused = async (one: ServiceClient): Promise<void> => {
    for (let i = 0; i < 5; i++) await one.check(login())
    expect(await one.check(login())).toMatchObject({ allowed: false, retryAfterMs: 60_000 })
  }

  it('is repeated without asking, with shorter waits, until it can end', async () => {
    const one = client({ refusals: { maxAgeMs: 3_600_000 } })
    await refused(one)
    const calls = service.sent.length
    service.clock.advance(59_999)
    expect(await one.check(login())).toMatchObject({ allowed: false, retryAfterMs: 1, status: 429 })
    expect(service.sent).toHaveLength(calls)
    expect(events.filter(({ type }) => type === 'repeated')).toEqual([{ type: 'repeated', policy: 'login' }])
    service.clock.advance(1)
    expect(await one.check(login())).toMatchObject({ allowed: true, remaining: 4 })
  })

  it('is asked about again after maxAgeMs, for another cost or key, and once something was given back', async () => {
    const one = client()
    await refused(one)
    let calls = service.sent.length
    const asks = async (question: object): Promise<boolean> => {
      await one.check(question as never)
      const asked = service.sent.length > calls
      calls = service.sent.length
      return asked
    }
    expect(await asks(login())).toBe(false)
    expect(await asks({ ...login(), cost: 2 })).toBe(true)
    expect(await asks(login('192.0.2.2'))).toBe(true)
    service.clock.advance(1_000)
    expect(await asks(login())).toBe(true)
    expect(await asks(login())).toBe(false)
    await one.cancel('nonsense').catch(() => undefined)
    calls = service.sent.length
    expect(await asks(login())).toBe(true)
  })

  it('is not repeated where a block counts refusals', async () => {
    const one = client()
    const answers = []
    for (let i = 0; i < 4; i++) answers.push(await one.check(at('/guarded')))
    expect(service.sent).toHaveLength(4)
    expect(answers.at(-1)).toMatchObject({ reason: 'block', retryAfterMs: 3_600_000 })
  })

  it('is not remembered for a question of more than 4,096 characters', async () => {
    const one = client()
    const long = { request: { ...login().request, query: { q: 'x'.repeat(4_096) } } }
    for (let i = 0; i < 7; i++) await one.check(long)
    expect(service.sent).toHaveLength(7)
  })

  it('the table is bounded: the oldest makes room', async () => {
    const one = client({ refusals: { maxEntries: 2 } })
    for (let user = 0; user < 3; user++)
      for (let i = 0; i < 3; i++)
        await one.check({ request: { path: '/burst', attributes: { user: `u${user}` } } })
    const calls = service.sent.length
    const ask = (user: string): Promise<unknown> =>
      one.check({ request: { path: '/burst', attributes: { user } } })
    await ask('u1')
    await ask('u2')
    expect(service.sent).toHaveLength(calls)
    await ask('u0')
    expect(service.sent).toHaveLength(calls + 1)
  })
})

describe('while the service does not answer', () => {
  const down = async (): Promise<Response> => {
    throw new TypeError('fetch failed')
  }

  it.each([
    ['open', { allowed: true, degraded: true, remaining: null }],
    [
      'closed',
      { allowed: false, degraded: true, status: 503, reason: 'store', headers: { 'Retry-After': '1' } },
    ],
  ] as const)('onError: %s decides', async (onError, expected) => {
    service.broken = down
    const one = client({ onError })
    expect(await one.check(login())).toMatchObject(expected)
    expect(await one.reserve(login())).toMatchObject({ ...expected, id: null })
    const other = onError === 'open' ? 'closed' : 'open'
    expect(await one.check(login(), { onError: other })).toMatchObject({ allowed: other === 'open' })
  })

  it('onError: local decides by rules of its own', async () => {
    service.broken = down
    const rules = compile(loadText('domain: shop\nlimits: [{ name: login, key: [ip], limit: 1/minute }]'))
    const local = createPipeline({ rules: () => rules, store: new MemoryStore() })
    const one = client({ onError: 'local', local })
    expect(await one.peek(login())).toMatchObject({ allowed: true, remaining: 1, degraded: true })
    expect(await one.check(login())).toMatchObject({ allowed: true, remaining: 0, degraded: true })
    expect(await one.check(login())).toMatchObject({ allowed: false, policy: 'login', status: 429 })
    expect(await one.check(login('192.0.2.2'))).toMatchObject({ allowed: true })
    await expect(client().check(login(), { onError: 'local' })).rejects.toThrow('local must be given')
  })

  it('the breaker stops asking after so many failures, and one call finds out whether it is back', async () => {
    service.broken = down
    const one = client({ breaker: { failures: 3, probeEveryMs: 500 } })
    for (let i = 0; i < 10; i++) await one.check(login())
    expect(service.sent).toHaveLength(3)
    expect(await one.check(login(), { onError: 'closed' })).toMatchObject({ retryAfterMs: 500 })
    service.broken = undefined
    service.clock.advance(500)
    expect(await one.check(login())).toMatchObject({ degraded: false })
    expect(events.map((event) => ('state' in event ? event.state : event.type))).toEqual(
      expect.arrayContaining(['service-failed', 'open', 'probing', 'closed', 'service-answered']),
    )
  })

  it.each([
    ['HTML', new Response('<html>')],
    ['no decision', new Response('[{}]')],
    ['too few answers', new Response('[]')],
    ['no batch', new Response('{}')],
    ['a redirect', new Response(null, { status: 302, headers: { location: 'http://elsewhere' } })],
    ['a gateway', new Response('bad gateway', { status: 502 })],
    [
      'a problem',
      Response.json(
        { type: 'about:blank', title: 'Unavailable', status: 503, detail: 'busy' },
        { status: 503, headers: { 'content-type': 'application/problem+json' } },
      ),
    ],
    [
      'one problem of a store',
      Response.json([{ type: 'about:blank', title: 'Unavailable', status: 503, detail: 'no store' }]),
    ],
  ])('%s is no answer', async (_, response) => {
    service.broken = async () => response
    expect(await client().check(login())).toMatchObject({ allowed: true, degraded: true })
  })

  it('an answer of any length is not read to its end', async () => {
    let parts = 0
    const endless = new ReadableStream({
      pull: (controller) => {
        parts++
        controller.enqueue(new Uint8Array(1_024 * 1_024))
      },
    })
    service.broken = async () => new Response(endless)
    expect(await client().check(login())).toMatchObject({ degraded: true })
    expect(parts).toBeLessThan(40)
  })

  it('a settlement is not lost unnoticed', async () => {
    const { id } = await client().reserve(login())
    service.broken = down
    await expect(client().commit(id, { cost: 1 })).rejects.toThrow(ServiceError)
  })
})

describe('a service that hangs', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => vi.useRealTimers())
  const hung = (): Promise<Response> => new Promise(() => undefined)

  it('is not waited for after the deadline, by questions that wait for a call neither', async () => {
    service.broken = hung
    const one = client({ maxInFlight: 1, now: () => performance.now(), deadlineMs: 100 })
    const answers: unknown[] = []
    void one.check(login('10.0.0.1')).then((answer) => answers.push(answer))
    await vi.advanceTimersByTimeAsync(50)
    void one.check(login('10.0.0.2')).then((answer) => answers.push(answer))
    await vi.advanceTimersByTimeAsync(49)
    expect(answers).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(2)
    expect(answers).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(50)
    expect(answers).toMatchObject([{ degraded: true }, { degraded: true }])
    expect(events).toContainEqual(expect.objectContaining({ type: 'service-failed', late: true }))
  })

  it('a signal ends the wait at once; what was not sent is not asked', async () => {
    service.broken = hung
    const one = client({ maxInFlight: 1, now: () => performance.now() })
    const leaving = new AbortController()
    const sent = one.check(login('10.0.0.1'), { signal: leaving.signal })
    await vi.advanceTimersByTimeAsync(1)
    const waiting = one.check(login('10.0.0.2'), { signal: leaving.signal })
    await vi.advanceTimersByTimeAsync(1)
    leaving.abort(new Error('left'))
    await expect(sent).rejects.toThrow('left')
    await expect(waiting).rejects.toThrow('left')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(service.sent).toHaveLength(1)
    await expect(one.check(login(), { signal: leaving.signal })).rejects.toThrow('left')
  })
})
