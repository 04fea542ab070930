import { get } from 'node:http'
import { FakeClock } from '@sluice/limiter/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { readAnswerLimits } from '../answers/answer-reader.ts'
import { MOCK_DIALECTS } from './mock-dialects.ts'
import type { MockOptions } from './mock-options.ts'
import { type MockServer, startMock } from './mock-server.ts'

const mocks: MockServer[] = []
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close()
})

async function start(options: MockOptions = {}): Promise<MockServer> {
  const mock = await startMock({ policies: { requests: window(3) }, clock: new FakeClock(), ...options })
  mocks.push(mock)
  return mock
}

const window = (limit: number) => ({ algorithm: 'fixed-window', limit, period: '1m' }) as const

/** The statuses of so many calls, one after the other. */
async function statuses({ url }: MockServer, calls: number, init: RequestInit = {}): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < calls; i++) {
    const response = await fetch(url, init)
    await response.arrayBuffer()
    found.push(response.status)
  }
  return found
}

describe('a mock', () => {
  it('keeps the limits that it is given, for each key', async () => {
    const mock = await start()
    expect(await statuses(mock, 5)).toEqual([200, 200, 200, 429, 429])
    expect(await statuses(mock, 1, { headers: { authorization: 'Bearer b' } })).toEqual([200])
    expect(await statuses(mock, 1, { headers: { 'x-api-key': 'c' } })).toEqual([200])
  })

  it.each(MOCK_DIALECTS.filter((dialect) => dialect !== 'none'))(
    'Acceptance 4.2: speaks %s, which the client understands',
    async (dialect) => {
      const mock = await start({ dialect })
      await statuses(mock, 2)
      const last = readAnswerLimits(await fetch(mock.url), { now: Date.now() })
      expect(last).toMatchObject({ refused: false, limits: [{ limit: 3, remaining: 0 }] })
      const refusal = readAnswerLimits(await fetch(mock.url), { now: Date.now() })
      expect(refusal).toMatchObject({ refused: true, limits: [{ limit: 3, remaining: 0 }] })
      expect(refusal!.retryAfterMs).toBeGreaterThan(0)
      expect(refusal!.retryAfterMs).toBeLessThanOrEqual(60_000)
    },
  )

  it.each([[-1], [undefined], ['5s']])('refuses all for milliseconds, not for %s', async (ms) => {
    const mock = await start()
    expect(() => mock.refuseAll(ms as number)).toThrow(/^ms must be/)
    expect(await statuses(mock, 1)).toEqual([200])
  })

  it('says nothing in none, and may refuse with another status', async () => {
    const mock = await start({ dialect: 'none', retryAfter: 'none', status: 503 })
    await statuses(mock, 3)
    const response = await fetch(mock.url)
    expect(response.status).toBe(503)
    expect([...response.headers.keys()].sort()).toEqual([
      ...['connection', 'content-length', 'content-type', 'date', 'keep-alive'],
    ])
  })

  it('speaks several dialects at once, and of several policies', async () => {
    const mock = await start({
      policies: { requests: window(3), tokens: window(9) },
      dialect: ['openai', 'github'],
    })
    const { headers } = await fetch(mock.url)
    expect(headers.get('x-ratelimit-remaining-tokens')).toBe('8')
    expect(headers.get('x-ratelimit-resource')).toBe('requests')
  })

  it('frees the slots of concurrency when an answer has ended', async () => {
    const mock = await start({ policies: { both: { algorithm: 'concurrency', limit: 1, period: '1m' } } })
    expect(await statuses(mock, 3)).toEqual([200, 200, 200])
  })

  it('can be reached on 127.0.0.1 alone', async () => {
    const mock = await start()
    expect(mock.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  })

  it.each([
    [{ dialect: 'githib' }, 'did you mean github?'],
    [{ faults: { htmls: 1 } }, 'no option is named "faults.htmls"; did you mean html?'],
    [{ faults: { html: 2 } }, 'faults.html must be a number from 0 to 1, not 2'],
    [{ status: 200 }, 'status must be a whole number from 400 to 599, not 200'],
    [{ host: '0.0.0.0' }, 'no option is named "host"'],
  ])('does not start with %j', async (options, message) => {
    await expect(startMock(options as MockOptions)).rejects.toThrow(message)
  })
})

describe('a mock counts', () => {
  it('what it got and admitted, and the most in any window, by itself', async () => {
    let admit = true
    const decision = () => {
      const figures = { allowed: admit, policy: 'p', limit: 2, remaining: 0, delayMs: 0, windowSeconds: 60 }
      const waits = { retryAfterMs: admit ? 0 : 60_000, moreAfterMs: 60_000, resetAfterMs: 60_000 }
      return { ...figures, ...waits, degraded: false, policies: [{ ...figures, ...waits }] }
    }
    const mock = await start({ limiter: { decide: decision } })
    await statuses(mock, 5)
    admit = false
    await statuses(mock, 2)
    expect(mock.count).toEqual({
      received: 7,
      admitted: 5,
      refused: 2,
      early: 1,
      faults: {},
      windows: [{ policy: 'p', limit: 2, windowSeconds: 60, most: 5 }],
    })
    expect(mock.arrivals.map(({ admitted }) => admitted)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ])
  })

  it('says so over HTTP, and begins anew', async () => {
    const mock = await start()
    await statuses(mock, 4)
    const count = async (path: string, method = 'GET') =>
      (await fetch(`${mock.url}${path}`, { method })).json()
    expect(await count('/__count')).toEqual(mock.count)
    expect(await count('/__reset', 'POST')).toMatchObject({ received: 0, early: 0, windows: [] })
    expect((await fetch(`${mock.url}/__other`)).status).toBe(404)
  })

  it('those as early who call before the time that they were given, each by itself', async () => {
    const mock = await start()
    const as = (caller: string): RequestInit => ({ headers: { 'x-caller': caller } })
    await statuses(mock, 5, as('a'))
    expect(mock.count.early).toBe(1)
    await statuses(mock, 1, as('b'))
    expect(mock.count.early).toBe(1)
    await statuses(mock, 1, as('b'))
    expect(mock.count.early).toBe(2)
  })
})

describe('faults of a mock:', () => {
  const refusalOf = async (options: MockOptions): Promise<Response> => {
    const mock = await start(options)
    await statuses(mock, 3)
    return fetch(mock.url)
  }

  it('a refusal without headers', async () => {
    const { status, headers } = await refusalOf({ faults: { bare: 1 } })
    expect([status, headers.get('retry-after'), headers.get('ratelimit')]).toEqual([429, null, null])
  })

  it('a page of HTML', async () => {
    const response = await refusalOf({ faults: { html: 1 } })
    expect(response.headers.get('content-type')).toMatch('text/html')
    expect(await response.text()).toMatch('<h1>')
  })

  it('a wrong clock, with the dates that it gives', async () => {
    const hour = 3_600_000
    const { headers } = await refusalOf({ faults: { skewMs: hour }, retryAfter: 'date', dialect: 'github' })
    const until = (text: string): number => Date.parse(text) - Date.now()
    expect(until(headers.get('date')!)).toBeGreaterThan(hour - 5_000)
    expect(until(headers.get('retry-after')!)).toBeGreaterThan(hour - 5_000)
    const said = readAnswerLimits({ status: 429, headers }, { now: Date.now() })
    expect(said!.retryAfterMs).toBeLessThanOrEqual(62_000)
    expect(said!.limits[0]!.resetMs).toBeLessThanOrEqual(62_000)
    expect((await refusalOf({ faults: { noDate: true } })).headers.has('date')).toBe(false)
  })

  it('headers that lie', async () => {
    const said = async (faults: MockOptions['faults']) =>
      readAnswerLimits(await refusalOf({ faults: faults! }), { now: Date.now() })!
    expect((await said({ lie: 'plenty' })).limits[0]!.remaining).toBe(3)
    expect((await said({ lie: 'soon' })).retryAfterMs).toBeLessThanOrEqual(6_000)
    expect((await said({ lie: 'never' })).retryAfterMs).toBeGreaterThan(60_000)
    const { headers } = await refusalOf({ faults: { lie: 'nonsense' }, random: () => 0 })
    expect(headers.get('retry-after')).toBe('-5')
  })

  it('a connection that is lost, and an answer that is cut off', async () => {
    const lost = await start({ faults: { lost: 1 } })
    await expect(fetch(lost.url)).rejects.toThrow(TypeError)
    expect(lost.count).toMatchObject({ received: 1, faults: { lost: 1 } })
    const cut = await start({ faults: { cut: 1 } })
    const response = await fetch(cut.url)
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow(TypeError)
  })

  it('an answer that comes in pieces', async () => {
    const mock = await start({ faults: { slow: 1, slowMs: 50 } })
    const chunks: string[] = []
    await new Promise<void>((resolve) => {
      get(mock.url, { agent: false }, (response) => {
        response.on('data', (chunk) => chunks.push(String(chunk)))
        response.on('end', resolve)
      })
    })
    expect(chunks.length).toBeGreaterThan(1)
    expect(chunks.join('')).toBe('{"ok":true}\n')
  })

  it('may be set while it runs, and come in parts', async () => {
    const mock = await start({ random: () => 0.5 })
    mock.setFaults({ bare: 0.4 })
    expect(() => mock.setFaults({ bare: -1 })).toThrow('bare must be a number from 0 to 1')
    await statuses(mock, 4)
    expect(mock.count.faults).toEqual({})
    mock.setFaults({ bare: 0.6 })
    await statuses(mock, 1)
    expect(mock.count.faults).toEqual({ bare: 1 })
  })

  it('all are refused, and given the same time', async () => {
    const mock = await start()
    mock.refuseAll(30_000)
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((authorization) => fetch(mock.url, { headers: { authorization } })),
    )
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 429])
    expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual(['30', '30', '30'])
    await fetch(`${mock.url}/__refuse?ms=0`, { method: 'POST' })
    expect(await statuses(mock, 1)).toEqual([200])
  })
})
