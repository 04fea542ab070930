import { expect, test } from 'vitest'
import { bench, post, type ServiceBench } from '../testing.ts'

const RULES = `
domain: d
limits:
  - { name: plain, when: { path: /plain }, key: [], limit: 1/minute }
  - { name: own, when: { path: /own }, key: [], limit: 1/minute, retry_after: date, tarpit: 5s }
`
/** Timers that run out at once, and remember for how long they were set. */
function fakeTimers() {
  const waits: number[] = []
  const setTimeout = (run: () => void, ms: number): void => {
    waits.push(ms)
    queueMicrotask(run)
  }
  return { waits, timers: { setTimeout, clearTimeout: () => undefined } as never }
}

const refused = async ({ http }: ServiceBench, path: string): Promise<Record<string, string>> => {
  const body = { domain: 'd', request: { path } }
  await post(http, '/v1/check', body)
  return (await post(http, '/v1/check', body)).body.headers
}
const SOON = 'Thu, 01 Jan 2026 00:01:00 GMT'

test('OF-61 Retry-After is a date where the service or the limit says so', async () => {
  const byLimit = await bench(RULES)
  expect((await refused(byLimit, '/plain'))['Retry-After']).toBe('60')
  expect((await refused(byLimit, '/own'))['Retry-After']).toBe(SOON)
  const byService = await bench(RULES, { respond: { retryAfter: 'date' } })
  expect((await refused(byService, '/plain'))['Retry-After']).toBe(SOON)
  await Promise.all([byLimit.close(), byService.close()])
})

test('OF-61 refusals are held back as long as the limit, or else the service, says', async () => {
  const { waits, timers } = fakeTimers()
  const own = await bench(RULES, { tarpit: '2s', timers })
  await refused(own, '/plain')
  await refused(own, '/own')
  expect(waits).toEqual([2_000, 5_000])
  const batch = ['/plain', '/own', '/none'].map((path) => ({ domain: 'd', request: { path } }))
  await post(own.http, '/v1/check/batch', batch)
  await post(own.http, '/v1/reserve', batch[0])
  expect(waits).toEqual([2_000, 5_000, 5_000, 2_000])
  for (const call of ['check?peek', 'check/batch?peek'])
    await post(own.http, `/v1/${call}`, call === 'check?peek' ? batch[0] : batch)
  expect(waits).toHaveLength(4)
  await own.close()
  await expect(bench(RULES, { tarpit: '61s' })).rejects.toThrow('tarpit must be one minute at most')
  await expect(bench(RULES.replace('5s', '2m'))).rejects.toThrow(':5:93: tarpit must be one minute at most')
})

test('OF-61 X-RateLimit-Retry-After says what Retry-After does, on refusals only', async () => {
  const own = await bench(RULES.replace('minute }', 'minute, jitter: 90% }'), {
    respond: { dialect: 'x-ratelimit:retry-after' },
  })
  const first = await post(own.http, '/v1/check', { domain: 'd', request: { path: '/own' } })
  expect(Object.keys(first.body.headers)).toEqual([
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
  ])
  expect((await refused(own, '/own'))['X-RateLimit-Retry-After']).toBe('60')
  const { 'Retry-After': standard, 'X-RateLimit-Retry-After': seconds } = await refused(own, '/plain')
  expect(seconds).toBe(standard)
  expect(Number(seconds)).toBeGreaterThan(60)
  await own.close()
})
