import {
  type ClientDuplexStream,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  status,
} from '@grpc/grpc-js'
import { afterEach, describe, expect, it } from 'vitest'
import { definitions, serviceOf } from '../grpc/definitions.ts'
import type { GrpcServer } from '../grpc/grpc-server.ts'
import { bench, type ServiceBench } from '../testing.ts'

const SERVICE = 'envoy.service.rate_limit_quota.v3.RateLimitQuotaService'
const RULES = 'domain: edge\nlimits: [{ name: all, key: [], limit: 100/second, assign: rlqs }]'

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answer = any

/** A proxy as far as gRPC goes. */
interface Client {
  report(domain: string, ...usages: readonly object[]): void
  /** The next answer. */
  next(): Promise<Answer>
  /** The code with which the stream ended. */
  readonly ended: Promise<number>
  close(): void
}

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serve(
  rulebook = RULES,
  rlqs = {},
): Promise<{ service: ServiceBench; grpc: GrpcServer; connect: (name?: string) => Client }> {
  const service = await bench(rulebook, { grpc: '127.0.0.1:0', rlqs })
  const grpc = await service.grpc!()
  const address = await grpc.listen({ host: '127.0.0.1', port: 0 })
  closing.push(async () => {
    await grpc.drain(0)
    await service.close()
  })
  return { service, grpc, connect: (name) => connect(address, name) }
}

function connect(address: string, name?: string): Client {
  const methods = serviceOf(definitions({ enums: String, defaults: true, oneofs: true }), SERVICE)
  const client = new (makeGenericClientConstructor(methods, 'quota'))(address, credentials.createInsecure())
  const metadata = new Metadata()
  if (name !== undefined) metadata.set('sluice-proxy', name)
  const call: ClientDuplexStream<object, Answer> = client.StreamRateLimitQuotas!(metadata)
  const answers: Answer[] = []
  const waiting: ((answer: Answer) => void)[] = []
  call.on('data', (answer: Answer) => (waiting.shift() ?? ((each: Answer) => answers.push(each)))(answer))
  const ended = new Promise<number>((resolve) => {
    call.on('status', ({ code }) => resolve(code))
  })
  call.on('error', () => undefined)
  const close = (): void => {
    call.cancel()
    client.close()
  }
  closing.push(close)
  return {
    report: (domain, ...usages) => void call.write({ domain, bucket_quota_usages: usages }),
    next: () =>
      new Promise((resolve) => (answers.length > 0 ? resolve(answers.shift()) : waiting.push(resolve))),
    ended,
    close,
  }
}

const usage = (bucket: object, requests = 1) => ({
  bucket_id: { bucket: Object.entries(bucket).map(([key, value]) => ({ key, value })) },
  num_requests_allowed: requests,
})

describe('a stream', () => {
  it('is answered with a token bucket of whole seconds, which Envoy tells from its last one', async () => {
    const { connect } = await serve()
    const proxy = connect()
    proxy.report('edge', usage({ limit: 'all' }))
    expect((await proxy.next()).bucket_action).toEqual([
      {
        bucket_id: { bucket: [{ key: 'limit', value: 'all' }] },
        bucket_action: 'quota_assignment_action',
        quota_assignment_action: {
          assignment_time_to_live: { seconds: 30, nanos: 0 },
          rate_limit_strategy: {
            strategy: 'token_bucket',
            token_bucket: {
              max_tokens: 100,
              tokens_per_fill: { value: 1_000 },
              fill_interval: { seconds: 10, nanos: 10 },
            },
          },
        },
      },
    ])
  })

  it('that comes second gets its part, after the first was sent less', async () => {
    const { connect } = await serve()
    const [first, second] = [connect(), connect()]
    first.report('edge', usage({ limit: 'all' }))
    await first.next()
    second.report('edge', usage({ limit: 'all' }))
    const tokens = ({ bucket_action: [action] }: Answer): number =>
      action.quota_assignment_action.rate_limit_strategy.token_bucket.tokens_per_fill.value
    expect(tokens(await first.next())).toBe(500)
    expect(tokens(await second.next())).toBe(500)
  })

  it('of buckets that no limit is for is not answered, and stays', async () => {
    const { connect, service } = await serve()
    const proxy = connect()
    proxy.report('other', usage({ limit: 'all' }))
    proxy.report('edge', usage({ limit: 'al' }), { num_requests_allowed: 3 }, usage({ limit: 'all' }))
    expect((await proxy.next()).bucket_action).toHaveLength(1)
    const { body } = await metrics(service)
    expect(body).toContain('sluice_rlqs_passed_over_total{reason="unknown"} 2')
    expect(body).toContain('sluice_rlqs_passed_over_total{reason="unreadable"} 1')
  })

  it('beyond the most is refused', async () => {
    const { connect } = await serve(RULES, { maxStreams: 1 })
    const first = connect()
    first.report('edge', usage({ limit: 'all' }))
    await first.next()
    expect(await connect().ended).toBe(status.RESOURCE_EXHAUSTED)
  })

  it('that its proxy cancels leaves its place, and its part until the assignment ends', async () => {
    const { connect, service } = await serve()
    const proxy = connect()
    proxy.report('edge', usage({ limit: 'all' }))
    await proxy.next()
    proxy.close()
    await expect.poll(async () => (await metrics(service)).body).toContain('sluice_rlqs_streams 0')
    expect((await metrics(service)).body).toContain('sluice_rlqs_buckets 1')
  })

  it('ends when the service stops, and its proxy goes on', async () => {
    const { connect, grpc } = await serve()
    const proxy = connect()
    proxy.report('edge', usage({ limit: 'all' }))
    await proxy.next()
    await grpc.drain(5_000)
    expect(await proxy.ended).toBe(status.OK)
  })
})

it('metrics tell streams, buckets, shares and requests, by names of the rulebook', async () => {
  const { connect, service } = await serve()
  const proxy = connect('edge-1')
  proxy.report('edge', usage({ limit: 'all', user: 'ada' }, 7))
  await proxy.next()
  const { body } = await metrics(service)
  expect(body.split('\n').filter((line: string) => line.startsWith('sluice_rlqs'))).toEqual([
    'sluice_rlqs_streams 1',
    'sluice_rlqs_buckets 1',
    'sluice_rlqs_assigned_share{domain="edge",policy="all"} 1',
    'sluice_rlqs_requests_total{domain="edge",policy="all",outcome="allowed"} 7',
    'sluice_rlqs_requests_total{domain="edge",policy="all",outcome="denied"} 0',
    'sluice_rlqs_key_missing_total{domain="edge",policy="all"} 0',
    'sluice_rlqs_passed_over_total{reason="unknown"} 0',
    'sluice_rlqs_passed_over_total{reason="unreadable"} 0',
    'sluice_rlqs_passed_over_total{reason="too many"} 0',
  ])
})

async function metrics(service: ServiceBench): Promise<{ body: string }> {
  const { body } = await service.admin.inject({ method: 'GET', url: '/metrics' })
  return { body }
}
