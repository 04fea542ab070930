import { describe, expect, it } from 'vitest'
import { Allowance } from './allowance.ts'
import { CubicPace } from './pace.ts'
import { Route } from './route.ts'
import { fakeWorld } from './world.test-support.ts'

const API = 'https://api.example.com'

/** A fixed window of 10 per 2 s, which begins with its first call, and says so in a dialect. */
function windowServer(say: (left: number, resetMs: number, now: number) => Readonly<Record<string, string>>) {
  let end = 0
  let used = 0
  return (_: string, { at }: { readonly at: number }): Response => {
    if (at >= end) {
      end = at + 2_000
      used = 0
    }
    const allowed = used < 10
    if (allowed) used++
    return new Response(null, { status: allowed ? 200 : 429, headers: say(10 - used, end - at, at) })
  }
}

const START = 1_767_225_600_000
const seconds = (ms: number): number => Math.ceil(ms / 1_000)
const DIALECTS: Readonly<
  Record<string, (left: number, resetMs: number, now: number) => Record<string, string>>
> = {
  'draft 3': (left, ms) => ({
    'ratelimit-limit': '10',
    'ratelimit-remaining': `${left}`,
    'ratelimit-reset': `${seconds(ms)}`,
  }),
  'draft 6': (left, ms) => ({
    'ratelimit-limit': '10',
    'ratelimit-policy': '10;w=2',
    'ratelimit-remaining': `${left}`,
    'ratelimit-reset': `${seconds(ms)}`,
  }),
  'draft 7': (left, ms) => ({
    ratelimit: `limit=10, remaining=${left}, reset=${seconds(ms)}`,
    'ratelimit-policy': '10;w=2',
  }),
  'draft 8': (left, ms) => ({
    ratelimit: `"default";r=${left};t=${seconds(ms)}`,
    'ratelimit-policy': '"default";q=10;w=2',
  }),
  'X- with a delta': (left, ms) => ({
    'x-ratelimit-limit': '10',
    'x-ratelimit-remaining': `${left}`,
    'x-ratelimit-reset': `${seconds(ms)}`,
  }),
  'X- with an epoch': (left, ms, now) => ({
    date: new Date(START + now).toUTCString(),
    'x-ratelimit-limit': '10',
    'x-ratelimit-remaining': `${left}`,
    'x-ratelimit-reset': `${seconds(START + now + ms)}`,
  }),
  GitHub: (left, ms, now) => ({
    date: new Date(START + now).toUTCString(),
    'x-github-request-id': 'a',
    'x-ratelimit-resource': 'core',
    'x-ratelimit-limit': '10',
    'x-ratelimit-remaining': `${left}`,
    'x-ratelimit-used': `${10 - left}`,
    'x-ratelimit-reset': `${seconds(START + now + ms)}`,
  }),
  Discord: (left, ms) => ({
    'x-ratelimit-bucket': 'abcd',
    'x-ratelimit-limit': '10',
    'x-ratelimit-remaining': `${left}`,
    'x-ratelimit-reset-after': `${ms / 1_000}`,
  }),
  OpenAI: (left, ms) => ({
    'x-ratelimit-limit-requests': '10',
    'x-ratelimit-remaining-requests': `${left}`,
    'x-ratelimit-reset-requests': `${Math.ceil(ms)}ms`,
  }),
  Anthropic: (left, ms, now) => ({
    date: new Date(START + now).toUTCString(),
    'anthropic-ratelimit-requests-limit': '10',
    'anthropic-ratelimit-requests-remaining': `${left}`,
    'anthropic-ratelimit-requests-reset': new Date(seconds(START + now + ms) * 1_000).toISOString(),
  }),
}

describe('what answers say', () => {
  it.each(Object.entries(DIALECTS))(
    'Acceptance 4.2: %s: 100 calls at 10 per 2 s are never refused, and end within 22 s',
    async (_, say) => {
      const { limited, arrivals, run } = fakeWorld(windowServer(say))
      const fetch = limited()
      for (let i = 0; i < 100; i++) {
        const call = fetch(`${API}/${i}`)
        if (i === 0) await Promise.all([call, run(0)])
      }
      await run(60_000)
      expect(arrivals.filter(({ status }) => status === 429)).toEqual([])
      expect(arrivals).toHaveLength(100)
      expect(arrivals.at(-1)!.at).toBeLessThanOrEqual(22_000)
      expect(arrivals.map(({ url }) => url)).toEqual(Array.from({ length: 100 }, (_, i) => `${API}/${i}`))
    },
  )

  it('Acceptance 4.2: spreads the rest of a window evenly where that is asked for', async () => {
    const { limited, arrivals, run } = fakeWorld(windowServer(DIALECTS.Discord!))
    const fetch = limited({ pace: 'even' })
    for (let i = 0; i < 50; i++) {
      const call = fetch(API)
      if (i === 0) await Promise.all([call, run(0)])
    }
    await run(60_000)
    expect(arrivals.every(({ status }) => status === 200)).toBe(true)
    const gaps = arrivals.slice(2).map(({ at }, i) => at - arrivals[i + 1]!.at)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(150)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(450)
  })

  it('never widens our own limits', async () => {
    const { limited, limiterOf, arrivals, run } = fakeWorld(
      () => new Response(null, { headers: { ratelimit: '"a";r=1000;t=1' } }),
    )
    const limiter = limiterOf({ rate: { algorithm: 'fixed-window', limit: 2, period: '1m' } })
    const fetch = limited({ destinations: [{ limiter }] })
    for (let i = 0; i < 5; i++) void fetch(API).catch(() => undefined)
    await run(59_000)
    expect(arrivals.length).toBeLessThanOrEqual(4) // two windows
  })

  it('Acceptance 4.8: one 429 for a key holds back all its calls; other keys go on; one call goes first', async () => {
    const world = fakeWorld(async (_, { at, n }) => {
      await world.sleep(10)
      return new Response(
        null,
        n === 0
          ? { status: 429, headers: { 'retry-after': '5' } }
          : { status: 200, headers: { at: `${at}` } },
      )
    })
    const { limited, limiterOf, arrivals, run, events } = world
    const limiter = limiterOf({ rate: { algorithm: 'token-bucket', limit: 10, period: '1s', key: 'tenant' } })
    const fetch = limited({ destinations: [{ limiter }] })
    const call = (tenant: string) => fetch(`${API}/${tenant}`, { limits: { key: { tenant } } })
    for (let i = 0; i < 100; i++) void call('a')
    for (let i = 0; i < 20; i++) void call('b')
    await run(5_009)
    // Ten had been sent when the first was refused.
    expect(arrivals.filter(({ url }) => url.endsWith('a'))).toHaveLength(10)
    expect(arrivals.filter(({ url }) => url.endsWith('b'))).toHaveLength(20)
    await run(9)
    expect(arrivals.filter(({ url }) => url.endsWith('a'))).toHaveLength(10)
    await run(2)
    expect(arrivals.filter(({ url }) => url.endsWith('a'))).toHaveLength(11) // it was sent alone
    await run(60_000)
    expect(arrivals).toHaveLength(120)
    expect(events.filter(({ type }) => type === 'destination-paused')).toEqual([
      { type: 'destination-paused', destination: API, ms: 5_000 },
    ])
  })

  it('after a pause calls go on one by one until one succeeds', async () => {
    const world = fakeWorld(async (_, { n }) => {
      await world.sleep(100)
      return new Response(null, { status: n < 3 ? 429 : 200 })
    })
    const { limited, arrivals, run } = world
    const fetch = limited({ maxWaitMs: 1e6 })
    for (let i = 0; i < 10; i++) void fetch(API).catch(() => undefined)
    await run(100)
    expect(arrivals).toHaveLength(10) // nothing was known
    for (let i = 0; i < 10; i++) void fetch(API).catch(() => undefined)
    await run(999)
    expect(arrivals).toHaveLength(10)
    await run(102)
    expect(arrivals).toHaveLength(11)
    await run(600_000)
    expect(arrivals).toHaveLength(20)
  })

  it('a pause is no longer than its bound, and a lying header no reason to wait for ever', async () => {
    const { limited, arrivals, run } = fakeWorld(
      (_, { n }) =>
        new Response(null, n === 0 ? { status: 429, headers: { 'retry-after': '9999999999' } } : {}),
    )
    const fetch = limited({ maxPauseMs: 60_000, maxWaitMs: 1e9 })
    await Promise.all([fetch(API), run(0)])
    void fetch(API)
    await run(60_000)
    expect(arrivals).toHaveLength(2)
  })

  it('goes on after answers that say nothing more, and after calls that fail', async () => {
    const { limited, arrivals, run } = fakeWorld((_, { n }) => {
      if (n === 0) return new Response(null, { headers: { ratelimit: '"a";r=0;t=1' } })
      if (n === 1) throw new TypeError('fetch failed')
      return new Response()
    })
    const fetch = limited()
    await Promise.all([fetch(API), run(0)])
    const calls = [1, 2, 3].map(() => fetch(API).catch(() => undefined))
    await run(10_000)
    await Promise.all(calls)
    expect(arrivals).toHaveLength(3) // and one that failed
  })

  it('answers that come out of order leave no more than is sure', () => {
    const allowance = new Allowance(
      { name: 'a', flow: '', destination: 'a', route: new Route({}) },
      { even: false, maxPauseMs: 1_000 },
    )
    const costs = { costOf: () => 1 }
    const sent = Array.from({ length: 5 }, () => allowance.send(0, costs))
    const answer = (i: number, remaining: number) =>
      allowance.answered(
        sent[i]!,
        { refused: false, limits: [{ name: '', limit: 10, remaining, resetMs: 2_000 }] },
        200,
        1,
      )
    answer(4, 5)
    expect(allowance.left(1)).toEqual({ '': 1 }) // the four others may not be counted yet
    answer(0, 9)
    expect(allowance.left(1)).toEqual({ '': 5 })
    answer(2, 7)
    expect(allowance.left(1)).toEqual({ '': 5 })
  })
})

describe('the pace after a refusal', () => {
  it('Acceptance 5.5: is 0.7 of the last, is the last again after some seconds, and ends at twice of it', () => {
    const pace = new CubicPace()
    let now = 0
    for (; now < 20_000; now += 100) pace.sent(now)
    expect(pace.rateAt(now)).toBe(Number.POSITIVE_INFINITY)
    pace.refused(now, now + 3_000)
    const rate = (ms: number) => pace.rateAt(now + 3_000 + ms)
    expect(pace.waitMs(now)).toBe(3_000)
    expect(rate(0)).toBeCloseTo(7, 1)
    expect(rate(Math.cbrt(30 / 4) * 1_000)).toBeCloseTo(10, 1)
    const rates = Array.from({ length: 60 }, (_, i) => rate(i * 100))
    expect(rates).toEqual([...rates].sort((a, b) => a - b))
    expect(rate(10_000)).toBe(Number.POSITIVE_INFINITY)
  })

  it('Acceptance 5.5: calls keep to it', async () => {
    const { limited, limiterOf, arrivals, run } = fakeWorld(
      (_, { n }) => new Response(null, n === 100 ? { status: 429, headers: { 'retry-after': '3' } } : {}),
    )
    const limiter = limiterOf({ rate: { algorithm: 'token-bucket', limit: 20, period: '1s', burst: 1 } })
    const fetch = limited({ destinations: [{ limiter }], maxWaitMs: 1e6 })
    for (let i = 0; i < 400; i++) void fetch(API)
    await run(8_600)
    const refusedAt = arrivals[100]!.at
    const later = arrivals.slice(101)
    expect(later[0]!.at).toBeGreaterThanOrEqual(refusedAt + 3_000)
    // 0.7 of 20 a second
    const first = later.filter(({ at }) => at < refusedAt + 3_500).length
    expect(first).toBeGreaterThanOrEqual(7)
    expect(first).toBeLessThanOrEqual(9)
    await run(60_000)
    expect(arrivals).toHaveLength(400)
    const last = arrivals.slice(-20)
    expect(last.at(-1)!.at - last[0]!.at).toBeCloseTo(950, 0)
  })
})
