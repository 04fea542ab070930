import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { BudgetExceeded } from './budget-exceeded.ts'
import { createOutbound, outbound } from './outbound.ts'
import { fakeWorld, outcomeOf } from './world.test-support.ts'

const API = 'https://api.example.com'
const ten = { algorithm: 'token-bucket', limit: 10, period: '1s' } as const

describe('outbound', () => {
  it('Acceptance 4.1: the server sees at most 10 + 10·t calls in any t; what finds no place is refused at once', async () => {
    const { limited, limiterOf, arrivals, run } = fakeWorld()
    const fetch = limited({
      destinations: [{ origin: API, limiter: limiterOf({ rate: ten }) }],
      maxWaitMs: 1e9,
    })
    const calls = Array.from({ length: 1_500 }, () => fetch(`${API}/items`))
    const refusals = await Promise.all(calls.slice(1_010).map((call) => call.catch((error) => error)))
    for (const error of refusals)
      expect(error).toMatchObject({
        code: 'ERR_SLUICE_THROTTLED',
        reason: 'full',
        local: true,
        retryAfterMs: 100,
      })
    await run(200_000)
    expect(arrivals).toHaveLength(1_010)
    arrivals.forEach(({ at }, i) => {
      const within = arrivals.filter((other) => other.at >= at && other.at < at + 1_000).length
      if (i % 50 === 0) expect(within).toBeLessThanOrEqual(20)
    })
    expect(arrivals.at(-1)!.at).toBe(100_000)
  })

  it('Acceptance 4.1: calls over the limit take no memory, but for the thousand that wait', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const { limited, limiterOf } = fakeWorld()
    const fetch = limited({
      destinations: [{ limiter: limiterOf({ rate: ten }) }],
      maxWaitMs: 1e9,
      observe: () => undefined,
    })
    const refused = () => fetch(API).then(String, () => undefined)
    for (let i = 0; i < 1_010; i++) void fetch(API)
    collect()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 100; i++) await Promise.all(Array.from({ length: 1_000 }, refused))
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50e6)
    expect(fetch.outbound.counts()[API]).toMatchObject({ waiting: 1_000, sent: 10, refused: 100_000 })
  }, 60_000)

  it('passes calls that no destination limits, and leaves other destinations alone', async () => {
    const { limited, limiterOf, arrivals, run } = fakeWorld()
    const fetch = limited({
      destinations: [
        { origin: API, path: '/search/**', limiter: limiterOf({ slow: { ...ten, limit: 1 } }) },
        { origin: 'https://*.example.org', limiter: limiterOf({ slow: { ...ten, limit: 1 } }) },
      ],
    })
    for (const url of [
      `${API}/items`,
      `${API}/search/a`,
      'https://a.example.org/',
      'https://other.example.net/',
    ])
      for (let i = 0; i < 3; i++) void fetch(url)
    await run(0)
    const seen = arrivals.map(({ url }) => new URL(url).host + new URL(url).pathname)
    expect(seen.filter((url) => url === 'api.example.com/items')).toHaveLength(3)
    expect(seen.filter((url) => url === 'other.example.net/')).toHaveLength(3)
    expect(seen.filter((url) => url === 'api.example.com/search/a')).toHaveLength(1)
    expect(seen.filter((url) => url === 'a.example.org/')).toHaveLength(1)
    await run(10_000)
    expect(arrivals).toHaveLength(12)
  })

  it('a call that cannot be served in time is refused on arrival; one that leaves gives its place back', async () => {
    const { limited, limiterOf, arrivals, run } = fakeWorld()
    const fetch = limited({ destinations: [{ limiter: limiterOf({ rate: { ...ten, limit: 1 } }) }] })
    const leaving = new AbortController()
    void fetch(`${API}/0`)
    const left = outcomeOf(fetch(`${API}/1`, { signal: leaving.signal }))
    void fetch(`${API}/2`)
    const late = fetch(`${API}/3`, { limits: { maxWaitMs: 2_999 } })
    await expect(late).rejects.toMatchObject({ reason: 'wait', retryAfterMs: 3_000 })
    leaving.abort()
    expect(await left).toBe('AbortError')
    await run(10_000)
    expect(arrivals.map(({ at, url }) => [at, url.at(-1)])).toEqual([
      [0, '0'],
      [1_000, '2'],
    ])
  })

  it('keys do not hold each other back, and get what their weights say of what they share', async () => {
    const { limited, limiterOf, arrivals, run } = fakeWorld()
    const limiter = limiterOf({
      own: { algorithm: 'token-bucket', limit: 100, period: '1s', key: 'tenant' },
      all: { algorithm: 'token-bucket', limit: 70, period: '1s', burst: 1, key: 'all' },
    })
    const weights: Readonly<Record<string, number>> = { a: 1, b: 2, c: 4 }
    const fetch = limited({
      destinations: [{ limiter }],
      weightOf: (key) => weights[JSON.parse(key).tenant] ?? 1,
      maxWaiting: 10_000,
    })
    for (const tenant of Object.keys(weights))
      for (let i = 0; i < 1_000; i++)
        void fetch(`${API}/${tenant}`, { limits: { key: { tenant, all: 'all' } } }).catch(() => undefined)
    await run(10_000)
    const got = Object.keys(weights).map(
      (tenant) => arrivals.filter(({ url }) => url.endsWith(tenant)).length,
    )
    for (const [i, wanted] of [100, 200, 400].entries())
      expect(Math.abs(got[i]! - wanted)).toBeLessThanOrEqual(wanted / 10)
  })

  it('Acceptance 5.4: by rule a call waits, is refused before it is sent, or is answered by the fallback', async () => {
    const { limited, limiterOf, arrivals, run } = fakeWorld()
    const limiter = limiterOf({
      budget: { algorithm: 'fixed-window', limit: 2, period: '1d' },
      rate: { algorithm: 'token-bucket', limit: 1, period: '1s' },
    })
    const rejecting = limited({ destinations: [{ limiter, onLimit: { budget: 'reject' } }] })
    const calls = [rejecting(API), rejecting(API)]
    const error = await rejecting(API).catch((reason) => reason)
    await run(5_000)
    await Promise.all(calls)
    expect(error).toBeInstanceOf(BudgetExceeded)
    expect(error).toMatchObject({ reason: 'limit', decision: { policy: 'budget' } })
    expect(arrivals.map(({ at }) => at)).toEqual([0, 1_000])

    const degrading = limited({
      destinations: [
        { limiter, onLimit: 'degrade', fallback: ({ url }) => new Response(`later: ${url.pathname}`) },
      ],
    })
    const answer = await degrading(`${API}/a`)
    expect(await answer.text()).toBe('later: /a')
    expect(arrivals).toHaveLength(2)
  })

  it('Acceptance 5.8: gives back what never reached the other side; a timeout stays charged', async () => {
    const errors = [
      new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
      new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ENOTFOUND' }) }),
      new DOMException('timeout', 'TimeoutError'),
    ]
    const { limiterOf } = fakeWorld()
    const limiter = limiterOf({ budget: { algorithm: 'fixed-window', limit: 100, period: '1d' } })
    let n = 0
    const fetch = outbound(
      async () => {
        throw errors[n++]
      },
      { destinations: [{ limiter }] },
    )
    for (let i = 0; i < 3; i++) await expect(fetch(API)).rejects.toBe(errors[i])
    expect(limiter.peek('api.example.com').remaining).toBe(99)
  })

  it('Acceptance 5.8: a loop of refused calls writes one line a minute', async () => {
    const { limited, limiterOf, clock } = fakeWorld()
    const lines: string[] = []
    const fetch = limited({
      destinations: [
        {
          limiter: limiterOf({ budget: { algorithm: 'fixed-window', limit: 1, period: '1d' } }),
          onLimit: 'reject',
        },
      ],
      log: (line) => lines.push(line),
    })
    for (let i = 0; i < 3_600; i++) {
      await fetch(API).catch(() => undefined)
      clock.advance(1_000)
    }
    expect(lines).toHaveLength(60)
    expect(lines[1]).toBe(`${API}: 60 calls were not sent since the last such line; the last: unwilling`)
  })

  it('holds slots until bodies end, or are left', async () => {
    const { limited, limiterOf, arrivals, run } = fakeWorld()
    const limiter = limiterOf({ slots: { algorithm: 'concurrency', limit: 2, period: '1h' } })
    const fetch = limited({ destinations: [{ limiter }] })
    const calls = [1, 2, 3, 4].map(() => fetch(API))
    const [first, second] = await Promise.all(calls.slice(0, 2))
    await run(100)
    expect(arrivals).toHaveLength(2)
    expect(await first!.text()).toBe('ok')
    expect(first!.url).toBe('')
    await second!.body!.cancel()
    await run(0)
    expect(arrivals).toHaveLength(4)
    for (const call of calls.slice(2)) await (await call).text()
    expect(limiter.peek('api.example.com').remaining).toBe(2)
  })

  it('Acceptance 5.6: reports 80 % and 100 % of a budget once in a window', async () => {
    const { limited, limiterOf, events, run } = fakeWorld()
    const limiter = limiterOf({ budget: { algorithm: 'fixed-window', limit: 10, period: '1h', soft: 0.8 } })
    const fetch = limited({ destinations: [{ limiter, onLimit: 'reject' }] })
    const shares = () => events.flatMap((event) => (event.type === 'budget-used' ? [event.share] : []))
    for (let i = 0; i < 7; i++) await fetch(API)
    expect(shares()).toEqual([])
    for (let i = 0; i < 8; i++) await fetch(API).catch(() => undefined)
    expect(shares()).toEqual([0.8, 1])
    await run(3_600_000)
    for (let i = 0; i < 15; i++) await fetch(API).catch(() => undefined)
    expect(shares()).toEqual([0.8, 1, 0.8, 1])
  })

  it('counts by destination, and says when the rest can be through', async () => {
    const { limited, limiterOf, events, run } = fakeWorld()
    const fetch = limited({ destinations: [{ name: 'api', limiter: limiterOf({ rate: ten }) }] })
    const progress = fetch.outbound.progress(10_000, { url: API })
    // 10 at once, then at least 10 a second.
    expect(await progress.report()).toEqual({ done: 0, total: 10_000, etaMs: 998_000 })
    for (let i = 0; i < 12; i++) void fetch(API).then(() => progress.tick())
    void fetch(API, { limits: { maxWaitMs: 0 } }).catch(() => undefined)
    await run(0)
    expect(fetch.outbound.counts()).toEqual({
      api: { waiting: 2, waited: 0, waitedMs: 0, sent: 10, refused: 1, paused: 0, left: { rate: 0 } },
    })
    await run(1_000)
    expect(fetch.outbound.counts().api).toMatchObject({ waiting: 0, waited: 2, waitedMs: 300, sent: 12 })
    expect(await progress.report()).toMatchObject({ done: 12, etaMs: 997_200 })
    expect(events.filter(({ type }) => type.startsWith('call-'))).toEqual([
      { type: 'call-refused', destination: 'api', reason: 'late', retryAfterMs: 300 },
      { type: 'call-waited', destination: 'api', ms: 100 },
      { type: 'call-waited', destination: 'api', ms: 200 },
    ])
  })

  it('runs anything else, and drains', async () => {
    const { limiterOf, clock, timers, run } = fakeWorld()
    const limits = createOutbound({
      clock,
      timers,
      destinations: [{ limiter: limiterOf({ rate: { ...ten, limit: 1 } }) }],
    })
    const log: string[] = []
    const job = (name: string) =>
      limits.run(
        async ({ signal, answered }) => {
          expect(signal).toBeUndefined()
          answered({ status: 429, headers: { 'retry-after': '3' } })
          log.push(name)
          return name
        },
        { url: API },
      )
    const both = [job('a'), job('b')]
    await run(2_999)
    expect(log).toEqual(['a'])
    const drained = limits.drain().then(() => log.push('drained'))
    await expect(job('c')).rejects.toMatchObject({ reason: 'draining' })
    await run(1)
    await drained
    expect(await Promise.all(both)).toEqual(['a', 'b'])
    expect(log).toEqual(['a', 'b', 'drained'])
  })

  it('a mistake in options is refused, with its path', () => {
    expect(() => outbound(fetch, { destinations: [{ orign: API } as never] })).toThrow(
      'no option is named "destinations[0].orign"; did you mean origin?',
    )
    expect(() => outbound(fetch, { destinations: [{ origin: 'example.com' }] })).toThrow(
      'origin must be such as https://api.example.com',
    )
  })
})
