import { createHash } from 'node:crypto'
import type { Event } from '@sluice/limiter/events'
import { describe, expect, it } from 'vitest'
import { FakeTime, seededRandom } from './fake-time.test-support.ts'
import type { RetryOptions } from './retry-options.ts'
import { type FetchFunction, retrying } from './retrying.ts'
import { Throttled } from './throttled.ts'

const URL = 'https://api.example.com/items'

type Answering = (request: Request, tries: number, nowMs: number) => Response | Error

/** A client in fake time, in front of a server that answers as it is given. */
function setUp(answering: Answering, options: RetryOptions = {}) {
  const time = new FakeTime()
  const sent: { at: number; request: Request }[] = []
  const events: Event[] = []
  const server: FetchFunction = async (input, init) => {
    init?.signal?.throwIfAborted()
    const request = new Request(input, init)
    sent.push({ at: time.nowMs, request })
    const answer = answering(request, sent.length, time.nowMs)
    if (answer instanceof Error) throw answer
    return answer
  }
  const { clock, timers } = time
  const random = seededRandom(1)
  const observe = (event: Event): void => void events.push(event)
  const fetch = retrying(server, { clock, timers, random, observe, ...options })
  /** What a call came to: its status, or its error. */
  const call = (
    init?: RequestInit,
    url: string | Request = URL,
  ): { result?: number | Error; at?: number } => {
    const outcome: { result?: number | Error; at?: number } = {}
    fetch(url, init).then(
      ({ status }) => Object.assign(outcome, { result: status, at: time.nowMs }),
      (error) => Object.assign(outcome, { result: error, at: time.nowMs }),
    )
    return outcome
  }
  return { time, sent, events, fetch, call, times: () => sent.map(({ at }) => at) }
}

const refusal = (retryAfter?: string, headers: Record<string, string> = {}): Response =>
  new Response('no', {
    status: 429,
    headers: { ...headers, ...(retryAfter !== undefined && { 'Retry-After': retryAfter }) },
  })
/** Fails so often, then answers. */
const after = (failures: number, failure: () => Response | Error): Answering => {
  return (_, tries) => (tries <= failures ? failure() : new Response('yes'))
}

describe('Acceptance 4.3: Retry-After', () => {
  it('of 2 s: the second try comes between 2 and 2.2 s after the first', async () => {
    for (let seed = 0; seed < 100; seed++) {
      const { call, time, times } = setUp(
        after(1, () => refusal('2')),
        { random: seededRandom(seed) },
      )
      const outcome = call()
      await time.run(10_000)
      expect(outcome.result).toBe(200)
      expect(times()[1]).toBeGreaterThanOrEqual(2_000)
      expect(times()[1]).toBeLessThanOrEqual(2_200)
    }
  })

  it('as a date: the same, by the answer’s own clock, which is an hour ahead or behind', async () => {
    for (const hours of [1, 0, -1]) {
      const at = Date.UTC(2026, 0, 1) + hours * 3_600_000
      const dated = (): Response =>
        refusal(new Date(at + 2_000).toUTCString(), { Date: new Date(at).toUTCString() })
      const { call, time, times } = setUp(after(1, dated))
      call()
      await time.run(10_000)
      expect(times()[1]).toBeGreaterThanOrEqual(2_000)
      expect(times()[1]).toBeLessThanOrEqual(2_200)
    }
  })

  it('of 0: the second try comes at once', async () => {
    const { call, time, times } = setUp(after(1, () => refusal('0')))
    call()
    await time.run(0)
    expect(times()).toEqual([0, 0])
  })

  it.each(['-5', 'NaN', '1e99', 'soon'])('of %s is ignored', async (text) => {
    const { call, time, times } = setUp(
      after(1, () => refusal(text)),
      { random: () => 0.5 },
    )
    expect(call().result).toBeUndefined()
    await time.run(10_000)
    expect(times()).toEqual([0, 250])
  })

  it('above the longest wait: no sleep, the error has the wait and the answer', async () => {
    const { call, time, sent, events } = setUp(() => refusal('61'))
    const outcome = call()
    await time.run(0)
    expect(outcome.result).toBeInstanceOf(Throttled)
    expect(outcome.result).toMatchObject({ reason: 'wait', local: false, retryAfterMs: 61_000 })
    expect((outcome.result as Throttled).response).toBeInstanceOf(Response)
    const next = call()
    await time.run(1_000)
    expect(next.result).toMatchObject({ reason: 'wait', local: true, retryAfterMs: 61_000 })
    expect(time.waiting).toBe(0)
    expect(sent).toHaveLength(1)
    expect(events.map(({ type }) => type)).toEqual(['destination-paused', 'call-given-up', 'call-refused'])
  })

  it('of years pauses for ten minutes: then a call finds out', async () => {
    const { call, time, sent } = setUp(after(1, () => refusal('99999999999')))
    call()
    await time.run(530_000)
    const early = call()
    await time.run(600_001)
    const probe = call()
    await time.run(600_002)
    expect(early.result).toMatchObject({ reason: 'wait', local: true, retryAfterMs: 70_000 })
    expect([probe.result, sent.length]).toEqual([200, 2])
  })
})

describe('a failed call', () => {
  it('is sent three times at most, and the last answer is handed back', async () => {
    const { call, time, sent, events } = setUp(() => new Response('no', { status: 503 }))
    const outcome = call()
    await time.run(60_000)
    expect(outcome.result).toBe(503)
    expect(sent).toHaveLength(3)
    expect(events.map(({ type }) => type)).toEqual(['call-retried', 'call-retried', 'call-given-up'])
    expect(events.at(-1)).toEqual({
      type: 'call-given-up',
      destination: 'https://api.example.com',
      tries: 3,
      reason: 'tries',
      status: 503,
    })
  })

  it('is sent again after an error of the network, which is thrown in the end', async () => {
    const lost = new TypeError('fetch failed')
    const { call, time, sent } = setUp(() => lost)
    const outcome = call()
    await time.run(60_000)
    expect(outcome.result).toBe(lost)
    expect(sent).toHaveLength(3)
  })

  it('is not sent again after any other error, or an answer that is no failure', async () => {
    for (const answer of [new RangeError('mine'), ...[200, 302, 400, 403, 404, 501].map(responseOf)]) {
      const { call, time, sent } = setUp(() => answer)
      call()
      await time.run(60_000)
      expect(sent).toHaveLength(1)
    }
    function responseOf(status: number): Response {
      return new Response(null, { status })
    }
  })

  it('is sent again after a refusal with 403, as GitHub has it', async () => {
    const refused = (): Response =>
      new Response('slow down', { status: 403, headers: { 'Retry-After': '3' } })
    const { call, time, times } = setUp(after(1, refused))
    call()
    await time.run(60_000)
    expect(times()[1]).toBeGreaterThanOrEqual(3_000)
  })

  it('is sent again, or not, as the server says', async () => {
    for (const [status, text, count] of [
      [503, 'false', 1],
      [409, 'true', 3],
    ] as const) {
      const { call, time, sent } = setUp(
        () => new Response('', { status, headers: { 'x-should-retry': text } }),
      )
      call()
      await time.run(60_000)
      expect(sent).toHaveLength(count)
    }
  })
})

describe('Acceptance 4.9: what is sent again', () => {
  const failed = (): Response => new Response('no', { status: 503 })

  it.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'put'])('%s is', async (method) => {
    const { call, time, sent } = setUp(after(2, failed))
    const outcome = call({ method })
    await time.run(60_000)
    expect([outcome.result, sent.length]).toEqual([200, 3])
  })

  it.each(['POST', 'PATCH'])('%s is not, without an idempotency key', async (method) => {
    const { call, time, sent, events } = setUp(failed)
    const outcome = call({ method, body: 'x' })
    await time.run(60_000)
    expect([outcome.result, sent.length]).toEqual([503, 1])
    expect(events).toMatchObject([{ type: 'call-given-up', reason: 'call' }])
  })

  it('POST is with the key that the client makes: the same for each try, another for each call', async () => {
    const { call, time, sent } = setUp(failed, { idempotencyKeys: true })
    for (let i = 0; i < 2; i++) call({ method: 'POST', body: 'x' })
    await time.run(60_000)
    const keys = sent.map(({ request }) => request.headers.get('idempotency-key'))
    expect(keys).toHaveLength(6)
    expect(new Set(keys).size).toBe(2)
    expect(keys[0]).toMatch(/^"[\da-f-]{36}"$/)
  })

  it('POST is with the caller’s own key, which wins', async () => {
    const own = [
      { method: 'POST', body: 'x', headers: { 'idempotency-key': 'mine' } },
      { method: 'POST', body: 'x', headers: [['Idempotency-Key', 'mine']] as [string, string][] },
    ]
    for (const init of own) {
      const { call, time, sent } = setUp(failed, { idempotencyKeys: () => 'made' })
      call(init)
      await time.run(60_000)
      expect(sent.map(({ request }) => request.headers.get('idempotency-key'))).toEqual([
        'mine',
        'mine',
        'mine',
      ])
    }
  })

  it('other headers stay when a key is added', async () => {
    const { call, time, sent } = setUp(failed, { idempotencyKeys: () => 'made' })
    call({ method: 'POST', headers: { authorization: 'Bearer x' } })
    await time.run(60_000)
    expect(sent.map(({ request }) => request.headers.get('authorization'))).toEqual(Array(3).fill('Bearer x'))
  })

  it('bodies that are values are sent again, whole', async () => {
    const form = new FormData()
    form.set('a', 'b')
    const bodies = ['text', new URLSearchParams('a=b'), new Blob(['blob']), new Uint8Array([1, 2]), form]
    for (const body of [...bodies, new ArrayBuffer(3)]) {
      const { call, time, sent } = setUp(failed)
      call({ method: 'PUT', body })
      await time.run(60_000)
      expect(sent).toHaveLength(3)
      if (body instanceof FormData) continue
      const hashes = await Promise.all(
        sent.map(async ({ request }) =>
          createHash('sha1')
            .update(Buffer.from(await request.arrayBuffer()))
            .digest('hex'),
        ),
      )
      expect(new Set(hashes).size).toBe(1)
    }
  })

  it('a stream is never, and neither is a Request with a body', async () => {
    const streams: (() => [Request | string, RequestInit | undefined])[] = [
      () => [URL, { method: 'PUT', body: new Blob(['x']).stream(), duplex: 'half' } as RequestInit],
      () => [new Request(URL, { method: 'PUT', body: 'x' }), undefined],
    ]
    for (const make of streams) {
      const { call, time, sent } = setUp(failed, { idempotencyKeys: true })
      const [input, init] = make()
      call(init, input)
      await time.run(60_000)
      expect(sent).toHaveLength(1)
    }
  })

  it('a Request without a body is', async () => {
    const { call, time, sent } = setUp(failed)
    call(undefined, new Request(URL))
    await time.run(60_000)
    expect(sent).toHaveLength(3)
  })

  it('a signal ends a wait at once, and no timer stays', async () => {
    const leaving = new AbortController()
    const { call, time, sent } = setUp(() => refusal('30'))
    const [own, held] = [call({ signal: leaving.signal }), call({ signal: leaving.signal })]
    await time.run(1_000)
    leaving.abort(new Error('gone'))
    await time.run(1_000)
    for (const { result, at } of [own, held]) expect([(result as Error).message, at]).toEqual(['gone', 1_000])
    expect([time.waiting, sent.length]).toEqual([0, 2])
  })
})

describe('Acceptance 4.6: a server that answers 503 to all', () => {
  it('gets 1,000 calls and their retries: a tenth more at most, and ten a minute', async () => {
    const { call, time, sent } = setUp(() => new Response('', { status: 503 }), { throttle: false })
    for (let i = 0; i < 1_000; i++) {
      call()
      await time.run((i + 1) * 60)
    }
    await time.run(120_000)
    expect(sent.length).toBeGreaterThan(1_000)
    expect(sent.length).toBeLessThanOrEqual(1_100 + 20)
  })

  it('spends what successes saved, and no more', async () => {
    const { call, time, sent } = setUp((_, tries) => new Response('', { status: tries > 500 ? 503 : 200 }), {
      throttle: false,
    })
    for (let i = 0; i < 1_000; i++) call()
    await time.run(120_000)
    expect(sent.length).toBeGreaterThan(1_040)
    expect(sent.length).toBeLessThanOrEqual(1_000 + 50 + 30)
  })
})

describe('Acceptance 4.7: a backend that accepts ten calls a second', () => {
  it('gets 20 of 100 a second, and all again within 10 s of its recovery; what is not sent says so', async () => {
    let capacity = 10
    let [second, left] = [-1, 0]
    const { call, time, sent, events } = setUp((_, __, nowMs) => {
      if (Math.floor(nowMs / 1_000) !== second) [second, left] = [Math.floor(nowMs / 1_000), capacity]
      return new Response('', { status: left-- > 0 ? 200 : 503 })
    })
    const offer = async (seconds: number): Promise<{ result?: number | Error }[]> => {
      const from = time.nowMs
      const outcomes = []
      for (let i = 0; i < seconds * 100; i++) {
        outcomes.push(call())
        await time.run(from + (i + 1) * 10)
      }
      return outcomes
    }
    await offer(130)
    const before = sent.length
    const outcomes = await offer(30)
    const onWire = sent.length - before
    expect(onWire / 30).toBeGreaterThan(18)
    expect(onWire / 30).toBeLessThan(22)
    const refused = outcomes.filter(({ result }) => result instanceof Throttled)
    expect(refused.length).toBeGreaterThan(2_000)
    expect(refused[0]!.result).toMatchObject({ reason: 'overload', local: true })
    expect(events.filter(({ type }) => type === 'call-refused').length).toBeGreaterThanOrEqual(refused.length)
    capacity = 1_000
    await offer(10)
    const back = await offer(5)
    expect(back.filter(({ result }) => result !== 200 && result !== undefined)).toEqual([])
  })
})

describe('Acceptance 4.8: one refusal', () => {
  it('holds back all calls of its key until the wait is over; other keys go on', async () => {
    const { call, time, sent } = setUp((request, _, nowMs) =>
      request.headers.get('authorization') === 'a' && nowMs < 3_000 ? refusal('3') : new Response('yes'),
    )
    const as = (key: string): RequestInit => ({ headers: { authorization: key } })
    call(as('a'))
    await time.run(10)
    const outcomes = Array.from({ length: 100 }, () => call(as('a')))
    const others = Array.from({ length: 100 }, () => call(as('b')))
    await time.run(2_999)
    expect(sent.filter(({ request }) => request.headers.get('authorization') === 'a')).toHaveLength(1)
    expect(others.every(({ result }) => result === 200)).toBe(true)
    await time.run(3_301)
    expect(outcomes.every(({ result, at }) => result === 200 && at! >= 3_000)).toBe(true)
  })

  it('fails the calls that are more than may wait', async () => {
    const { call, time } = setUp(
      after(1, () => refusal('3')),
      { maxWaiting: 10 },
    )
    call()
    await time.run(10)
    const outcomes = Array.from({ length: 20 }, () => call())
    await time.run(20)
    const failed = outcomes.filter(({ result }) => result instanceof Throttled)
    expect(failed).toHaveLength(11)
    expect(failed[0]!.result).toMatchObject({ reason: 'full', local: true })
  })

  it('lengthens no wait that is longer already', async () => {
    const waits = ['5', '1']
    const { call, time, times } = setUp(() =>
      waits.length > 0 ? refusal(waits.shift()) : new Response('yes'),
    )
    call()
    call()
    await time.run(20_000)
    expect(
      times()
        .slice(2)
        .every((at) => at >= 5_000),
    ).toBe(true)
    expect(times()).toHaveLength(4)
  })

  it('may be of a key of one’s own', async () => {
    const { call, time, sent } = setUp(
      after(1, () => refusal('3')),
      { key: () => 'all' },
    )
    call()
    await time.run(10)
    call(undefined, new Request('https://other.example.com'))
    await time.run(2_999)
    expect(sent).toHaveLength(1)
  })
})

describe('options', () => {
  it.each([
    [{ tries: 0 }, 'tries must be a whole number from 1 to 100, not 0'],
    [{ trys: 3 }, 'no option is named "trys"; did you mean tries?'],
    [{ budget: true }, 'budget must be'],
    [{ throttle: { k: 1 } }, 'throttle.k must be a number above 1, not 1'],
    [{ backoff: 'ful' }, 'did you mean full?'],
    [{ maxWaitMs: -1 }, 'maxWaitMs must be milliseconds, 0 or more, not -1'],
  ])('%j is an error', (options, message) => {
    expect(() => retrying(fetch, options as RetryOptions)).toThrow(message)
  })

  it('leave addresses that are none to the platform', async () => {
    await expect(retrying(fetch)('nonsense')).rejects.toThrow(TypeError)
  })
})
