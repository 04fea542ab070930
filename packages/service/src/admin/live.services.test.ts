import type { LiveHistory, LiveSecond } from '@sluice/observe/live'
import { afterEach, describe, expect, test } from 'vitest'
import { createService, type Service } from '../service.ts'
import { type RulesFolder, rulesFolder } from '../testing.ts'

const RULES = `
domain: shop
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 2/day }
  - { name: watched, when: { path: /login }, key: [], limit: 1/day, mode: shadow }
`

interface Running {
  readonly service: Service
  readonly http: string
  readonly admin: string
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(options: object = {}): Promise<Running> {
  const folder: RulesFolder = await rulesFolder({ 'rules.yaml': RULES })
  const service = createService({
    rules: [folder.path],
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    watch: false,
    idleMs: 0,
    log: { level: 'silent' },
    ...options,
  })
  const { http, admin } = await service.start()
  closing.push(folder.remove, () => service.stop())
  return { service, http, admin }
}

async function login({ http }: Running, times: number, ip = '203.0.113.1'): Promise<void> {
  for (let i = 0; i < times; i++) {
    await fetch(`${http}/v1/check`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ domain: 'shop', request: { path: '/login', ip } }),
    })
  }
}

/** The events of a stream, one after the other. */
async function* eventsOf(url: string, signal: AbortSignal, headers = {}): AsyncGenerator<[string, unknown]> {
  const response = await fetch(url, { signal, headers: { accept: 'text/event-stream', ...headers } })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? []
      text = text.slice(end + 2)
      if (name !== undefined) yield [name, JSON.parse(data!)]
    }
  }
}

describe('GET /v1/live', () => {
  test('begins with what was, and sends every second what happened, as the metrics say', async () => {
    const running = await start()
    const leaving = new AbortController()
    const events = eventsOf(`${running.admin}/v1/live`, leaving.signal)
    const [first, history] = (await events.next()).value as [string, LiveHistory]
    expect([first, history]).toEqual(['history', { rows: expect.any(Array), seconds: expect.any(Array) }])
    await login(running, 5)
    const seconds: LiveSecond[] = []
    for await (const [name, data] of events) {
      expect(name).toBe('second')
      seconds.push(data as LiveSecond)
      if ((data as LiveSecond).totals.denied === 3) break
    }
    leaving.abort()
    const sum = (of: (second: LiveSecond) => number): number =>
      seconds.reduce((all, each) => all + of(each), 0)
    expect([sum(({ requests }) => requests.allowed), sum(({ requests }) => requests.denied)]).toEqual([2, 3])
    const policy = (name: string) =>
      seconds.flatMap(({ policies }) => policies).filter((each) => each.policy === name)
    expect(policy('login').reduce((all, { limited }) => all + limited, 0)).toBe(3)
    expect(policy('watched').reduce((all, { shadow }) => all + shadow, 0)).toBe(4)
    const full = policy('login').map(({ fullness }) => fullness)
    const bins = full[0]!.map((_, i) => full.reduce((all, each) => all + each[i]!, 0))
    expect(bins).toEqual([0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 3]) // half in use, all of it, and over it
    expect(seconds.at(-1)).toMatchObject({
      totals: { allowed: 2, denied: 3, degraded: 0 },
      latency: { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) },
      store: { kind: 'memory', breaker: null, failures: 0, keys: 2 },
      rules: { mistake: null },
    })
    const metrics = await (await fetch(`${running.admin}/metrics`)).text()
    expect(metrics).toContain('sluice_requests_total{domain="shop",outcome="denied"} 3\n')
    expect(metrics).toContain(
      'sluice_policy_decisions_total{domain="shop",policy="watched",outcome="would_limit"} 4\n',
    )
  })

  test('ends when the service stops, which does not wait for it', async () => {
    const { service, admin } = await start({ drainMs: 60_000 })
    const events = eventsOf(`${admin}/v1/live`, new AbortController().signal)
    await events.next()
    await service.stop()
    for await (const _ of events);
  })

  test('takes 32 streams, and another when one of them ends', async () => {
    const { admin } = await start()
    const leaving = Array.from({ length: 32 }, () => new AbortController())
    for (const { signal } of leaving) await eventsOf(`${admin}/v1/live`, signal).next()
    const refused = await fetch(`${admin}/v1/live`)
    expect([refused.status, await refused.json()]).toMatchObject([503, { detail: /too many streams/ }])
    for (const each of leaving) each.abort()
    const again = new AbortController()
    await expect
      .poll(async () => {
        const response = await fetch(`${admin}/v1/live`, { signal: again.signal })
        return response.status
      })
      .toBe(200)
    again.abort()
  })
})

describe('GET /v1/offenders', () => {
  test('acceptance 6.5: lists who is refused, and sends the list again and again to those who ask for a stream', async () => {
    const running = await start()
    await login(running, 5)
    await login(running, 3, '203.0.113.2')
    const url = `${running.admin}/v1/offenders?domain=shop&policy=login&window=1d&top=1`
    const body = await (await fetch(url)).json()
    expect(body).toEqual({
      leftOut: 0,
      lists: [
        {
          domain: 'shop',
          policy: 'login',
          window: '1d',
          since: expect.any(Number),
          denied: {
            total: 4,
            unlisted: 1,
            keys: [{ key: '203.0.113.1', atLeast: 3, atMost: 3, routes: [{ route: '/login', atLeast: 3 }] }],
          },
          busiest: { total: 8, unlisted: 3, keys: [{ key: '203.0.113.1', atLeast: 5, atMost: 5 }] },
          routes: { total: 8, unlisted: 0, keys: [{ key: '/login', atLeast: 8, atMost: 8 }] },
        },
      ],
    })
    const leaving = new AbortController()
    const events = eventsOf(url, leaving.signal)
    expect((await events.next()).value).toEqual(['offenders', body])
    expect((await events.next()).value).toEqual(['offenders', body])
    leaving.abort()
  })

  test('hides keys that are to be hashed, alike on every node with the secret', async () => {
    const shown = async (): Promise<string> => {
      const running = await start({ offenderKeys: 'hashed', secret: 'a secret of all nodes' })
      await login(running, 3)
      const body = await (await fetch(`${running.admin}/v1/offenders?policy=login`)).json()
      const { lists } = body as { lists: { denied: { keys: { key: string }[] } }[] }
      return lists[0]!.denied.keys[0]!.key
    }
    const key = await shown()
    expect(key).toMatch(/^%h[\da-f]{32}$/)
    expect(await shown()).toBe(key)
  })

  test.each([
    ['window=1h', /window must be 5m or 1d/],
    ['top=0', /top must be a whole number from 1 to 1000/],
    ['polcy=login', /there is no parameter polcy/],
    ['policy=a&policy=b', /policy is given twice/],
  ])('refuses %s', async (query, detail) => {
    const { admin } = await start()
    const response = await fetch(`${admin}/v1/offenders?${query}`)
    expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([
      400,
      expect.stringMatching(detail),
    ])
  })
})
