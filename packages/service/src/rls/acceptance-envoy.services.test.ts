import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { afterEach, describe, expect, test } from 'vitest'
import { openStore } from '../../../cli/src/stores.ts'
import { freePort } from '../../../limiter/src/free-port.test-support.ts'
import { type RedisServer, startRedis } from '../../../limiter/src/stores/redis/server.test-support.ts'
import { callerOf, type GrpcBench, grpcBench } from '../grpc/calls.test-support.ts'
import { createService } from '../service.ts'
import { rulesFolder } from '../testing.ts'
import {
  application,
  byHeaders,
  type EdgeOptions,
  type Envoy,
  edge,
  generic,
  perRoute,
  startEnvoy,
} from './envoy.test-support.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serviceFor(rulebook: string): Promise<GrpcBench> {
  const service = await grpcBench(rulebook)
  closing.push(() => service.close())
  service.clock.set(1_700_000_000_000_000)
  return service
}

async function envoyFor(
  grpcPort: number,
  options: Pick<EdgeOptions, 'domain' | 'routes' | 'filter'>,
): Promise<Envoy> {
  const app = await application('app')
  closing.push(app.close)
  const envoy = await startEnvoy(edge({ ...options, grpcPort, applications: { app: app.port } }))
  closing.push(envoy.stop)
  return envoy
}

const portOf = ({ address }: Pick<GrpcBench, 'address'>): number => Number(address.split(':')[1])
/** On a slow machine Envoy's 20 ms would end while nothing is wrong. */
const PATIENT = { timeout: '10s' }

describe('acceptance: Envoy', () => {
  test('1: 120 of 121 calls of one user pass, the last is told when to come back, another user is not limited', async () => {
    const service = await serviceFor(`
domain: apigw
descriptors:
  - key: route
    value: users_read
    descriptors:
      - { key: user, rate_limit: { name: users-read, unit: minute, requests_per_unit: 120 } }
`)
    const actions = [
      { generic_key: { descriptor_key: 'route', descriptor_value: 'users_read' } },
      { request_headers: { header_name: 'x-user-id', descriptor_key: 'user' } },
    ]
    const envoy = await envoyFor(portOf(service), {
      domain: 'apigw',
      filter: PATIENT,
      routes: [{ match: { prefix: '/' }, route: { cluster: 'app', rate_limits: [{ actions }] } }],
    })
    const answers = []
    for (let i = 0; i < 121; i++) answers.push(await envoy.get('/', { 'x-user-id': 'a' }))
    expect(answers.slice(0, 120).map(({ status }) => status)).toEqual(Array.from({ length: 120 }, () => 200))
    const { status, headers } = answers[120]!
    expect([status, headers['x-envoy-ratelimited']]).toEqual([429, 'true'])
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60)
    expect(headers.ratelimit).toMatch(/^"users-read";r=0;t=\d+$/)
    expect((await envoy.get('/', { 'x-user-id': 'b' })).status).toBe(200)
  })

  test.each([
    [true, 8],
    [false, 14],
  ])(
    '2: with rate_limited_as_resource_exhausted %s a gRPC client behind Envoy gets code %d',
    async (flag, code) => {
      const service = await serviceFor(
        'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: minute, requests_per_unit: 0 } }]',
      )
      const envoy = await envoyFor(portOf(service), {
        domain: 'd',
        filter: { ...PATIENT, rate_limited_as_resource_exhausted: flag },
        routes: [perRoute('/', 'app', generic('k', 'v'))],
      })
      const { call, close } = callerOf(`127.0.0.1:${envoy.port}`)
      closing.push(close)
      await expect(call('grpc.health.v1.Health', 'Check', { service: '' })).rejects.toMatchObject({ code })
    },
  )

  test.each([
    ['sliding-window-log', 5],
    ['fixed-window', 10],
  ])(
    '3: one word changed: of five calls before the end of a window and five after it, %s lets %d pass',
    async (algorithm, expected) => {
      const service = await serviceFor(
        `domain: d\ndescriptors: [{ key: user, rate_limit: { period: 2s, requests_per_unit: 5, algorithm: ${algorithm} } }]`,
      )
      const envoy = await envoyFor(portOf(service), {
        domain: 'd',
        filter: PATIENT,
        routes: [byHeaders('/', ['user'])],
      })
      let passed = 0
      const five = async (): Promise<void> => {
        for (let i = 0; i < 5; i++) if ((await envoy.get('/', { user: 'a' })).status === 200) passed++
      }
      service.clock.advance(1_850) // of a window of 2 s
      await five()
      service.clock.advance(300)
      await five()
      expect(passed).toBe(expected)
    },
  )

  test('4: with Redis hung, a limit that is closed refuses 100 of 100, one that is open none', async () => {
    const redis = await startRedis()
    closing.push(redis.stop)
    const port = await serviceOnRedis(
      redis,
      `
domain: d
descriptors:
  - { key: closed, rate_limit: { unit: day, requests_per_unit: 1000000, on_store_error: closed } }
  - { key: open, rate_limit: { unit: day, requests_per_unit: 1000000 } }
`,
    )
    // That the service answers 5 ms before Envoy's own 20 ms is in deadline.test.ts: a machine may stand still as long.
    const routes = [byHeaders('/', ['closed'], ['open'])]
    const envoy = await envoyFor(port, { domain: 'd', filter: PATIENT, routes })
    const refused = async (headers: Record<string, string>): Promise<number> => {
      let count = 0
      for (let i = 0; i < 100; i++) if ((await envoy.get('/', headers)).status === 429) count++
      return count
    }
    await expect.poll(async () => (await envoy.get('/', { closed: 'a' })).status).toBe(200)
    redis.pause()
    expect(await refused({ closed: 'a' })).toBe(100)
    expect(await refused({ open: 'a' })).toBe(0)
    redis.resume()
  })

  test.each([
    [false, 200],
    [true, 500],
  ])(
    '5: the service killed, failure_mode_deny %s: %d; when it is back, 100 calls are decided exactly',
    async (deny, status) => {
      const grpc = `127.0.0.1:${await freePort()}`
      const folder = await rulesFolder({
        'rules.yaml':
          'domain: d\ndescriptors: [{ key: user, rate_limit: { period: 365d, requests_per_unit: 60 } }]',
      })
      closing.push(folder.remove)
      const store = new MemoryStore()
      const start = async (): Promise<() => Promise<void>> => {
        const service = createService({
          rules: [folder.path],
          watch: false,
          store,
          grpc,
          http: '127.0.0.1:0',
          admin: '127.0.0.1:0',
          drainMs: 0,
          log: { level: 'silent' },
        })
        await service.start()
        return () => service.stop()
      }
      let stop = await start()
      closing.push(() => stop())
      const envoy = await envoyFor(Number(grpc.split(':')[1]), {
        domain: 'd',
        filter: { ...PATIENT, failure_mode_deny: deny },
        routes: [byHeaders('/', ['user'])],
      })
      expect((await envoy.get('/', { user: 'first' })).status).toBe(200)
      await stop()
      for (let i = 0; i < 5; i++) expect((await envoy.get('/', { user: 'a' })).status).toBe(status)
      stop = await start()
      const ok = await envoy.stat('cluster.app.ratelimit.ok')
      await expect
        .poll(async () => {
          await envoy.get('/', { user: 'other' })
          return envoy.stat('cluster.app.ratelimit.ok')
        })
        .toBeGreaterThan(ok)
      const statuses: number[] = []
      for (let i = 0; i < 100; i++) statuses.push((await envoy.get('/', { user: 'a' })).status)
      expect(statuses).toEqual(Array.from({ length: 100 }, (_, i) => (i < 60 ? 200 : 429)))
    },
  )

  test('5: what Envoy sends to the application again is charged once', async () => {
    const service = await serviceFor(
      'domain: d\ndescriptors: [{ key: user, rate_limit: { unit: day, requests_per_unit: 3 } }]',
    )
    let asked = 0
    const failing = createServer((_request, response) => {
      response.statusCode = ++asked % 3 === 0 ? 200 : 503
      response.end()
    })
    await new Promise<void>((listening) => failing.listen(0, '127.0.0.1', listening))
    closing.push(() => failing.close())
    const route = byHeaders('/', ['user']) as { route: object }
    const again = { retry_on: '5xx', num_retries: 2, retry_back_off: { base_interval: '0.001s' } }
    const { port } = failing.address() as AddressInfo
    const envoy = await startEnvoy(
      edge({
        domain: 'd',
        filter: PATIENT,
        routes: [{ ...route, route: { ...route.route, retry_policy: again } }],
        grpcPort: portOf(service),
        applications: { app: port },
      }),
    )
    closing.push(envoy.stop)
    const statuses: number[] = []
    for (let i = 0; i < 4; i++)
      statuses.push((await envoy.get('/', { user: 'a', 'x-request-id': 'one' })).status)
    expect({ statuses, asked }).toEqual({ statuses: [200, 200, 200, 429], asked: 9 })
  })
})

async function serviceOnRedis({ port }: RedisServer, rulebook: string): Promise<number> {
  const folder = await rulesFolder({ 'rules.yaml': rulebook })
  const store = await openStore(`redis://127.0.0.1:${port}`)
  const service = createService({
    rules: [folder.path],
    watch: false,
    store,
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    grpc: '127.0.0.1:0',
    drainMs: 0,
    log: { level: 'silent' },
  })
  const { grpc } = await service.start()
  closing.push(async () => {
    await service.stop()
    await store.close()
    await folder.remove()
  })
  return Number(grpc!.split(':')[1])
}
