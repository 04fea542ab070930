import { afterEach, expect, test } from 'vitest'
import {
  application,
  byHeaders,
  type Envoy,
  edge,
  generic,
  perRoute,
  startEnvoy,
} from './envoy.test-support.ts'
import { codes, entries, type GrpcBench, grpcBench, hitsOf } from './vectors.test-support.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(descriptors: string): Promise<GrpcBench> {
  const service = await grpcBench(`domain: d\ndescriptors:\n${descriptors}`)
  closing.push(() => service.close())
  service.clock.set(1_699_999_800_000_000) // 10 minutes into an hour
  return service
}

async function behindEnvoy(service: GrpcBench, ...routes: object[]): Promise<Envoy> {
  const app = await application('app', { 'x-tokens': '1000' })
  closing.push(app.close)
  const envoy = await startEnvoy(
    edge({
      domain: 'd',
      grpcPort: Number(service.address.split(':')[1]),
      applications: { app: app.port },
      filter: { timeout: '10s', enable_x_ratelimit_headers: 'DRAFT_VERSION_03' },
      routes,
    }),
  )
  closing.push(envoy.stop)
  return envoy
}

const rule = (key: string, limit: number, unit: string): string =>
  `  - { key: ${key}, rate_limit: { name: ${key}, unit: ${unit}, requests_per_unit: ${limit} } }\n`

test('FB-032: of two limits, a refusal by one charges nothing to the other', async () => {
  const service = await open(rule('user', 4, 'hour') + rule('tenant', 4, 'hour'))
  const ask = (count: number, user: string, tenant: string): Promise<string[]> =>
    codes(service, 'd', count, entries('user', user), entries('tenant', tenant))
  expect(await ask(5, 'user1', 'CH')).toEqual(['OK', 'OK', 'OK', 'OK', 'OVER_LIMIT'])
  expect(await ask(2, 'user2', 'CH')).toEqual(['OVER_LIMIT', 'OVER_LIMIT'])
  expect(await ask(4, 'user2', 'TC')).toEqual(['OK', 'OK', 'OK', 'OK'])
})

test('FB-049: headers of a refusal are those of the limit that refused', async () => {
  const service = await open(rule('requests', 60, 'minute') + rule('spend', 1, 'hour'))
  const envoy = await behindEnvoy(service, byHeaders('/', ['requests'], ['spend']))
  await envoy.get('/', { spend: 'ada' })
  for (let i = 0; i < 3; i++) await envoy.get('/', { requests: 'ada' })
  const { status, headers } = await envoy.get('/', { requests: 'ada', spend: 'ada' })
  expect([status, headers['x-ratelimit-remaining'], headers['x-ratelimit-reset']]).toEqual([429, '0', '3000'])
  expect([headers['retry-after'], headers.ratelimit]).toEqual([
    '3000',
    expect.stringContaining('"spend";r=0;t=3000'),
  ])
})

test('FB-084: a changed limit keeps what was used, and what remains is never below 0', async () => {
  const service = await open(rule('a', 10, 'hour') + rule('b', 5_000_000, 'hour'))
  const look = async (key: string): Promise<number> =>
    (
      await service.shouldRateLimit({
        domain: 'd',
        descriptors: [{ ...entries(key, 'v'), hits_addend: { value: 0 } }],
      })
    ).statuses[0]!.limit_remaining
  await service.shouldRateLimit({ domain: 'd', descriptors: [entries('a', 'v')], hits_addend: 10 })
  await service.shouldRateLimit({ domain: 'd', descriptors: [entries('b', 'v')], hits_addend: 35 })
  await service.folder.write(
    'rules.yaml',
    `domain: d\ndescriptors:\n${rule('a', 15, 'hour')}${rule('b', 10, 'hour')}`,
  )
  await service.rules.reload()
  expect([await look('a'), await look('b')]).toEqual([5, 0])
})

test('FB-090: answers of 1,000 tokens each, charged when they are sent: 10 of 20 pass 10,000 a minute', async () => {
  // At its limit exactly a look still passes, as with envoyproxy/ratelimit.
  const service = await open(rule('tokens', 9_999, 'minute'))
  const spent = { hits_addend: { format: '%RESP(x-tokens)%' }, apply_on_stream_done: true }
  const envoy = await behindEnvoy(
    service,
    perRoute(
      '/',
      'app',
      generic('tokens', 'all', { hits_addend: { number: 0 } }),
      generic('tokens', 'all', spent),
    ),
  )
  const statuses: number[] = []
  for (let i = 0; i < 20; i++) {
    const { status } = await envoy.get('/')
    if (status === 200)
      await expect.poll(async () => (await hitsOf(service))['d.tokens']?.total_hits).toBe((i + 1) * 1_000)
    statuses.push(status)
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(10)
})

test('FB-092: descriptors are limits each of its own, and a cost above a limit is refused', async () => {
  const service = await open(rule('a', 10, 'minute') + rule('b', 100, 'minute'))
  const envoy = await behindEnvoy(service, byHeaders('/', ['a'], ['b']))
  const statuses: number[] = []
  for (let i = 0; i < 11; i++) statuses.push((await envoy.get('/', { a: 'v' })).status)
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429])
  expect((await envoy.get('/', { b: 'v' })).status).toBe(200)
  const costly = await service.shouldRateLimit({
    domain: 'd',
    descriptors: [entries('a', 'other')],
    hits_addend: 20,
  })
  expect(costly.overall_code).toBe('OVER_LIMIT')
})
