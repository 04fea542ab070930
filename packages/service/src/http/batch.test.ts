import { afterAll, beforeAll, expect, test } from 'vitest'
import { bench, post, type ServiceBench } from '../testing.ts'

let service: ServiceBench
beforeAll(async () => {
  service = await bench(
    'domain: d\nlimits: [{ name: n, key: [user], limit: 3/hour, algorithm: fixed-window }]\n',
  )
})
afterAll(() => service.close())

const of = (user: string, more: object = {}): object => ({
  domain: 'd',
  request: { attributes: { user } },
  ...more,
})

test('answers in order, each request for itself', async () => {
  const { status, body } = await post(service.http, '/v1/check/batch', [
    of('ada'),
    of('ada', { cost: 2 }),
    of('ada'),
    of('bob', { cost: -1 }),
    { domain: 'none', request: {} },
    'nonsense',
    of('bob', { costs: 1 }),
    of('bob'),
  ])
  expect(status).toBe(200)
  expect(
    body.map(({ allowed, status, detail }: Record<string, unknown>) => allowed ?? { status, detail }),
  ).toEqual([
    true,
    true,
    false,
    { status: 400, detail: 'cost must be a whole number from 0 to 2^53−1' },
    { status: 404, detail: 'no rules are loaded for domain "none"' },
    { status: 400, detail: 'the request must be an object' },
    { status: 400, detail: 'unknown field "costs" in the request' },
    true,
  ])
})

test('with ?peek only looks', async () => {
  const { body } = await post(service.http, '/v1/check/batch?peek', [of('eve'), of('eve')])
  expect(body.map(({ remaining }: { remaining: number }) => remaining)).toEqual([3, 3])
})

test('takes none, and a thousand, and no more', async () => {
  const requests = (count: number): object[] => Array.from({ length: count }, (_, i) => of(`user ${i % 500}`))
  expect((await post(service.http, '/v1/check/batch', [])).body).toEqual([])
  const { body } = await post(service.http, '/v1/check/batch', requests(1_000))
  expect(body.map(({ remaining }: { remaining: number }) => remaining)).toEqual([
    ...Array.from({ length: 500 }, () => 2),
    ...Array.from({ length: 500 }, () => 1),
  ])
  expect(await post(service.http, '/v1/check/batch', requests(1_001))).toMatchObject({
    status: 400,
    body: { detail: 'the body must be a list of 0 to 1000' },
  })
})

test('OF-44: other requests are answered between the turns of a batch', async () => {
  const domain = await bench(
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: hour, requests_per_unit: 9 } }]\n',
  )
  const descriptors = Array.from({ length: 50 }, (_, i) => ({ entries: [{ key: 'k', value: `${i}` }] }))
  const answered: string[] = []
  const batch = post(domain.http, '/v1/check/batch', Array(500).fill({ domain: 'd', descriptors }))
  const one = post(domain.http, '/v1/check', { domain: 'd', descriptors })
  await Promise.all([batch.then(() => answered.push('batch')), one.then(() => answered.push('one'))])
  expect(answered).toEqual(['one', 'batch'])
  expect((await batch).body.filter(({ allowed }: { allowed: boolean }) => allowed)).toHaveLength(8)
  await domain.close()
})

test.each([
  ['an object', {}, 400],
  ['five megabytes', `["${'x'.repeat(5_000_000)}"]`, 413],
])('refuses %s', async (_name, sent, status) => {
  expect((await post(service.http, '/v1/check/batch', sent)).status).toBe(status)
})
