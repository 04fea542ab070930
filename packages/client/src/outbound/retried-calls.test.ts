import type { Event } from '@sluice/limiter/events'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../retry/fake-time.test-support.ts'
import { retrying } from '../retry/retrying.ts'
import { BudgetExceeded } from './budget-exceeded.ts'
import { outbound } from './outbound.ts'
import { type Answering, fakeWorld } from './world.test-support.ts'

const API = 'https://api.example.com'
const daily = { algorithm: 'fixed-window', limit: 1_000, period: '1d' } as const

/** Fails so often, then answers. */
const failing =
  (failures: number): Answering =>
  (_, { n }) =>
    new Response('…', { status: n < failures ? 503 : 200 })

function setUp(answering: Answering) {
  const world = fakeWorld(answering)
  const { clock, timers } = world
  const events: Event[] = []
  const options = {
    clock,
    timers,
    random: seededRandom(1),
    observe: (event: Event) => void events.push(event),
  }
  return { ...world, options, retries: events }
}

describe('retrying(outbound(fetch))', () => {
  it('charges each try, which waits for its turn', async () => {
    const { limited, limiterOf, arrivals, run, options } = setUp(failing(2))
    const limiter = limiterOf({
      day: daily,
      rate: { algorithm: 'token-bucket', limit: 1, period: '10s', burst: 1 },
    })
    const fetch = retrying(limited({ destinations: [{ limiter }] }), options)
    const call = fetch(API)
    await run(60_000)
    expect((await call).status).toBe(200)
    expect(arrivals.map(({ at }) => at)).toEqual([0, 10_000, 20_000])
    expect(limiter.peek('api.example.com').policies.map(({ remaining }) => remaining)).toEqual([997, 1])
  })

  it('spends no more of a limit on retries than the budget of their origin', async () => {
    const { limited, limiterOf, arrivals, run, options } = setUp(failing(Number.POSITIVE_INFINITY))
    const limiter = limiterOf({ day: daily })
    const fetch = retrying(limited({ destinations: [{ limiter }] }), { ...options, throttle: false })
    const calls = Array.from({ length: 500 }, () => fetch(API))
    await run(50_000)
    for (const call of calls) expect((await call).status).toBe(503)
    expect(arrivals).toHaveLength(510)
    expect(limiter.peek('api.example.com').remaining).toBe(490)
  })

  it('does not repeat what a limit of ours refused', async () => {
    const { limited, limiterOf, arrivals, options, retries } = setUp(failing(0))
    const limiter = limiterOf({ day: { ...daily, limit: 1 } })
    const fetch = retrying(limited({ destinations: [{ limiter, onLimit: 'reject' }] }), options)
    await fetch(API)
    const error = await fetch(API).catch((reason) => reason)
    expect(error).toBeInstanceOf(BudgetExceeded)
    expect(error.message).toBe('not sent: it is over the limit "day"; call again in 86400000 ms')
    expect([arrivals.length, retries]).toEqual([1, []])
  })

  it('gives a slot back between tries, and hands on what a call says of its limits', async () => {
    const { limited, limiterOf, run, options } = setUp(failing(2))
    const limiter = limiterOf({ slots: { algorithm: 'concurrency', limit: 1, period: '1h' } })
    const fetch = retrying(limited({ destinations: [{ limiter }] }), options)
    const call = fetch(API, { limits: { key: 'tenant', maxWaitMs: 10 } })
    await run(60_000)
    expect(await (await call).text()).toBe('…')
    expect(limiter.peek('tenant').remaining).toBe(1)
  })
})

it('outbound(retrying(fetch)) charges a call once, whatever it is tried', async () => {
  const { limiterOf, clock, timers, run, options } = setUp(failing(0))
  const limiter = limiterOf({ day: daily })
  let n = 0
  const send = retrying(async () => new Response('', { status: n++ < 2 ? 503 : 200 }), options)
  const call = outbound(send, { destinations: [{ limiter }], clock, timers })(API)
  await run(60_000)
  expect([(await call).status, n]).toEqual([200, 3])
  expect(limiter.peek('api.example.com').remaining).toBe(999)
})
