import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { bytes, testAuthority } from '../certificates.test-support.ts'
import { callerOf, entries } from '../grpc/calls.test-support.ts'
import { definitions, messageOf, serviceOf } from '../grpc/definitions.ts'
import { structOf } from '../rls/struct.ts'
import { createService, type Service } from '../service.ts'
import type { XdsOptions } from './xds-options.ts'

const TYPE = 'ratelimit.config.ratelimit.v3.RateLimitConfig'
const all = definitions()

// biome-ignore lint/suspicious/noExplicitAny: requests of every shape
type Request = any

/** A server of rules, as Envoy Gateway has one. */
interface RulesServer {
  readonly address: string
  /** What the client sent, in order. */
  readonly requests: Request[]
  /** Sends these configurations to whoever is connected, and to whoever connects. */
  send(version: string, ...configs: object[]): void
  cut(): void
  close(): void
}

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function rulesServer(
  secured: ServerCredentials = ServerCredentials.createInsecure(),
): Promise<RulesServer> {
  const server = new Server()
  const streams = new Set<ServerDuplexStream<Request, object>>()
  const requests: Request[] = []
  let last: object | undefined
  let nonce = 0
  server.addService(serviceOf(all, 'envoy.service.discovery.v3.AggregatedDiscoveryService'), {
    StreamAggregatedResources(stream: ServerDuplexStream<Request, object>) {
      streams.add(stream)
      stream.on('data', (request) => {
        requests.push(request)
        if (request.response_nonce === undefined && last !== undefined) stream.write(last)
      })
      stream.on('error', () => undefined)
      stream.on('close', () => streams.delete(stream))
      stream.on('end', () => stream.end())
    },
  })
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', secured, (error, bound) => (error ? reject(error) : resolve(bound))),
  )
  const close = (): void => server.forceShutdown()
  closing.push(close)
  return {
    address: `127.0.0.1:${port}`,
    requests,
    send(version_info, ...configs) {
      const resources = configs.map((config) => ({
        type_url: `type.googleapis.com/${TYPE}`,
        value: messageOf(all, TYPE).serialize(config),
      }))
      last = { version_info, type_url: `type.googleapis.com/${TYPE}`, nonce: `n${++nonce}`, resources }
      for (const stream of streams) stream.write(last)
    },
    cut() {
      for (const stream of streams) stream.emit('error', { code: 14, details: 'going away' })
    },
    close,
  }
}

const config = (limit: number, more: object = {}): object => ({
  name: 'edge',
  domain: 'edge',
  descriptors: [{ key: 'user', rate_limit: { unit: 3, requests_per_unit: limit }, ...more }],
})

interface Running {
  readonly service: Service
  readonly started: Promise<unknown>
  limit(): Promise<number | undefined>
}

function run(server: RulesServer, tls: Partial<XdsOptions> = {}): Running {
  const service = createService({
    rules: [],
    xds: { server: server.address, node: 'sluice-1', metadata: { zone: 'a' }, ...tls },
    grpc: '127.0.0.1:0',
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    drainMs: 0,
    log: { level: 'silent' },
  })
  const started = service.start()
  closing.push(() => service.stop())
  return {
    service,
    started,
    async limit() {
      const { shouldRateLimit, close } = callerOf((await started).grpc!)
      const { statuses } = await shouldRateLimit({ domain: 'edge', descriptors: [entries('user', 'ada')] })
      close()
      return statuses[0]!.current_limit?.requests_per_unit
    },
  }
}

const SOON = { timeout: 60_000 }
const last = ({ requests }: RulesServer): Request => requests.at(-1)

describe('rules by xDS', () => {
  test('are waited for, taken, acknowledged and changed', async () => {
    const server = await rulesServer()
    const { limit } = run(server)
    await vi.waitFor(() => expect(server.requests).toHaveLength(1), SOON)
    expect(last(server)).toMatchObject({
      type_url: `type.googleapis.com/${TYPE}`,
      node: { id: 'sluice-1', metadata: structOf({ zone: 'a' }) },
    })
    server.send('1', config(5))
    expect(await limit()).toBe(5)
    await vi.waitFor(
      () => expect(last(server)).toMatchObject({ version_info: '1', response_nonce: 'n1' }),
      SOON,
    )
    expect(last(server).error_detail ?? null).toBeNull()
    server.send('2', config(7))
    await vi.waitFor(async () => expect(await limit()).toBe(7), SOON)
    server.send('3')
    await vi.waitFor(async () => expect(await limit()).toBeUndefined(), SOON)
  })

  test('with a mistake are refused, in words, and those in force stay', async () => {
    const server = await rulesServer()
    server.send('1', config(5))
    const { limit } = run(server)
    expect(await limit()).toBe(5)
    server.send('2', { name: 'edge', domain: 'edge', descriptors: [{ key: '', rate_limit: { unit: 1 } }] })
    await vi.waitFor(
      () => expect(last(server)).toMatchObject({ version_info: '1', response_nonce: 'n2' }),
      SOON,
    )
    expect(last(server).error_detail.message).toContain('xds:edge')
    expect(last(server).error_detail.message).toContain('"key" must not be empty')
    expect(await limit()).toBe(5)
  })

  test('of which the first has a mistake are not enough to start', async () => {
    const server = await rulesServer()
    server.send(
      '1',
      config(5, { value: 'v', metadata: structOf({ a: [1, null] }), shadow_mode: true }),
      config(6),
    )
    const { limit } = run(server)
    await vi.waitFor(() => expect(last(server)?.response_nonce ?? '').toBe('n1'), SOON)
    server.send('2', {
      name: 'edge',
      domain: 'edge',
      descriptors: [{ key: 'user', rate_limit: { unit: 0 } }],
    })
    await vi.waitFor(() => expect(last(server).response_nonce).toBe('n2'), SOON)
    expect(last(server).error_detail.message).toContain('"unit" is missing')
    server.send('3', config(8))
    expect(await limit()).toBeDefined()
  })

  test('stay while the server is gone; it is asked again with the version that is in force', async () => {
    const server = await rulesServer()
    server.send('1', config(5))
    const { limit } = run(server)
    expect(await limit()).toBe(5)
    server.cut()
    expect(await limit()).toBe(5)
    await vi.waitFor(() => expect(last(server)).toMatchObject({ version_info: '1' }), SOON)
    server.send('2', config(9))
    await vi.waitFor(async () => expect(await limit()).toBe(9), SOON)
  })

  test('come by mTLS, from a server of the name that is asked for', async () => {
    const authority = testAuthority()
    closing.push(authority.remove)
    const [own, mine] = [authority.issue('envoy-gateway'), authority.issue('sluice')]
    const pair = { cert_chain: bytes(own.cert), private_key: bytes(own.key) }
    const server = await rulesServer(ServerCredentials.createSsl(bytes(authority.ca), [pair], true))
    server.send('1', config(5))
    const { limit } = run(server, { ca: authority.ca, ...mine, serverName: 'envoy-gateway' })
    expect(await limit()).toBe(5)
    await expect(run(server, { ...mine }).started).rejects.toThrow('a certificate needs ca')
    const unread = run(server, { ca: '/does/not/exist' })
    await expect(unread.started).rejects.toThrow('cannot read /does/not/exist: ENOENT')
  })

  test('that never come do not keep the service from stopping', async () => {
    const server = await rulesServer()
    const { service, started } = run(server)
    await vi.waitFor(() => expect(server.requests).toHaveLength(1), SOON)
    const failed = expect(started).rejects.toThrow('the service stopped before it had rules')
    await service.stop()
    await failed
  })
})
