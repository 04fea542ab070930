import { deepEqual, equal, match, ok } from 'node:assert/strict'
import type { Runner } from '../runner.ts'
import { type AdapterUnderTest, benches, type TestOptions } from './bench.ts'

const TWO_A_MINUTE: TestOptions = { limit: 2, period: '1m' }

/** What refused callers are sent. */
export function refusals(runner: Runner, adapter: AdapterUnderTest): void {
  const test = benches(runner, adapter)

  test(
    'lets the limit in, and tells the next one when to come back',
    TWO_A_MINUTE,
    async ({ get, clock }) => {
      const first = await get()
      equal(first.status, 200)
      equal(first.headers['ratelimit-policy'], '"default";q=2;w=60')
      equal(first.headers.ratelimit, '"default";r=1;t=60')
      equal(first.headers['retry-after'], undefined)
      clock.advance(500)
      equal((await get()).headers.ratelimit, '"default";r=0;t=60')
      const refused = await get()
      equal(refused.status, 429)
      equal(refused.headers['retry-after'], '60')
      equal(refused.headers.ratelimit, '"default";r=0;t=60')
      equal(refused.headers['cache-control'], 'no-store')
      deepEqual(JSON.parse(refused.body), {
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        title: 'Quota Exceeded',
        status: 429,
        detail: 'Try again in 60 seconds.',
        'violated-policies': ['default'],
      })
    },
  )

  test('FB-051: who waits as long as told is let in', { ...TWO_A_MINUTE, limit: 1 }, async ({
    get,
    clock,
  }) => {
    await get()
    for (const elapsed of [1, 59_999, 777]) {
      clock.advance(elapsed)
      const { status, headers } = await get()
      if (status === 200) continue
      match(headers['retry-after']!, /^[1-9]\d*$/)
      clock.advance(Number(headers['retry-after']) * 1_000)
      equal((await get()).status, 200)
    }
  })

  test('calls a problem a problem', { ...TWO_A_MINUTE, limit: 0 }, async ({ get }) => {
    equal((await get()).headers['content-type'], 'application/problem+json')
  })

  test('names no time when no wait helps', { limit: 0, period: '1m' }, async ({ get }) => {
    const { status, headers } = await get()
    equal(status, 429)
    equal(headers['retry-after'], undefined)
  })

  test('counts HEAD like GET, and refuses it without a body', TWO_A_MINUTE, async ({ get, statuses }) => {
    await statuses(2, '/', { method: 'HEAD' })
    const { status, headers, body } = await get('/', { method: 'HEAD' })
    deepEqual([status, headers['retry-after'], body], [429, '60', ''])
    equal((await get()).status, 429)
  })

  test('speaks the dialects of old', {
    ...TWO_A_MINUTE,
    standardHeaders: 'draft-7',
    legacyHeaders: true,
  }, async ({ get, clock }) => {
    const { headers } = await get()
    equal(headers.ratelimit, 'limit=2, remaining=1, reset=60')
    equal(headers['x-ratelimit-remaining'], '1')
    equal(headers['x-ratelimit-reset'], `${clock.now() / 1_000_000 + 60}`)
  })

  test('T62: a policy’s name is escaped, whatever is in it', { ...TWO_A_MINUTE, identifier: 'a"b' }, async ({
    get,
  }) => {
    equal((await get()).headers.ratelimit, '"a\\"b";r=1;t=60')
  })

  test('keeps headers back until there is something to refuse', {
    ...TWO_A_MINUTE,
    headers: 'denied',
  }, async ({ get }) => {
    equal((await get()).headers.ratelimit, undefined)
    await get()
    equal((await get()).headers.ratelimit, '"default";r=0;t=60')
  })

  test(
    'sends what the application would rather say',
    () => ({ ...TWO_A_MINUTE, limit: 0, statusCode: 420, message: { calm: 'down' } }),
    async ({ get }) => {
      const { status, headers, body } = await get()
      deepEqual(
        [status, headers['content-type'], body],
        [420, 'application/json; charset=utf-8', '{"calm":"down"}'],
      )
    },
  )

  test('lets a function write the body, from the figures', {
    ...TWO_A_MINUTE,
    limit: 0,
    message: (...args: readonly unknown[]) => `limit ${(args.at(-1) as { limit: number }).limit}`,
  }, async ({ get }) => {
    const { headers, body } = await get()
    deepEqual([headers['content-type'], body], ['text/plain; charset=utf-8', 'limit 0'])
  })

  test('lets scripts of other origins read its headers', { ...TWO_A_MINUTE, exposeHeaders: true }, async ({
    get,
  }) => {
    equal((await get()).headers['access-control-expose-headers'], 'Retry-After, RateLimit-Policy, RateLimit')
  })

  test(
    'spreads those who were refused together, and sends nobody early',
    ({ header }) => ({ ...TWO_A_MINUTE, limit: 1, jitter: 1, key: (...native) => header(native, 'x-user') }),
    async ({ get }) => {
      const waits = new Set<number>()
      for (const user of ['ada', 'bob', 'cy', 'dee']) {
        const ask = { headers: { 'x-user': user } }
        await get('/', ask)
        waits.add(Number((await get('/', ask)).headers['retry-after']))
      }
      ok(waits.size > 1 && Math.min(...waits) >= 60 && Math.max(...waits) <= 120, [...waits].join())
    },
  )
}
