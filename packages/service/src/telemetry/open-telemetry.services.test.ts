import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { entries, grpcBench } from '../grpc/calls.test-support.ts'
import { scrape } from '../observe/scrape.test-support.ts'
import { type bench, GatedStore, post } from '../testing.ts'
import { openTelemetry } from './open-telemetry.ts'
import { type OtlpReceiver, otlpReceiver } from './otlp-receiver.test-support.ts'

const RULES = `
domain: shop
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 2/hour }
  - { name: trial, when: { path: /login }, key: [ip], limit: 1/hour, mode: shadow }
descriptors:
  - { key: user, rate_limit: { name: per-user, unit: minute, requests_per_unit: 1 } }
`
const LOGIN = { domain: 'shop', request: { path: '/login', ip: '192.0.2.7' } }
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`

let receiver: OtlpReceiver
beforeEach(async () => {
  receiver = await otlpReceiver()
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url)
})
afterEach(() => {
  vi.unstubAllEnvs()
  receiver.close()
})

async function traced(options: Parameters<typeof bench>[1] = {}) {
  const service = await grpcBench(RULES, { ...options, telemetry: openTelemetry() })
  onTestFinished(() => service.close())
  service.telemetry!.start()
  const ask = (body: unknown, headers = {}) =>
    service.http.inject({ method: 'POST', url: '/v1/check', payload: body as object, headers })
  return { ...service, ask, sent: () => service.telemetry!.stop() }
}

describe('metrics', () => {
  test('are those that Prometheus reads, figure by figure', async () => {
    const service = await traced()
    for (let i = 0; i < 3; i++) await service.ask(LOGIN)
    await service.shouldRateLimit({ domain: 'shop', descriptors: [entries('user', 'ada')] }, {}, 60_000)
    const samples = await scrape(service)
    await service.sent()
    const of = (name: string, attributes: object = {}) =>
      receiver.series.find((each) => each.name === name && matches(each.attributes, attributes))
    for (const outcome of ['allowed', 'limited', 'would_limit', 'degraded', 'deprioritized']) {
      for (const policy of ['login', 'trial', 'per-user'])
        expect([
          policy,
          outcome,
          of('sluice.policy.decisions', { 'sluice.policy': policy, 'sluice.outcome': outcome })?.value,
        ]).toEqual([
          policy,
          outcome,
          samples.get(`sluice_policy_decisions_total{domain="shop",policy="${policy}",outcome="${outcome}"}`),
        ])
    }
    expect(
      of('sluice.policy.decisions', { 'sluice.policy': 'login', 'sluice.outcome': 'limited' }),
    ).toMatchObject({
      kind: 'sum',
      unit: '{decision}',
      value: 1,
    })
    const counters = [...samples].filter(([name]) => /^sluice_\w+_total(\{|$)/.test(name))
    const sums = receiver.series.filter(({ name, kind }) => kind === 'sum' && name.startsWith('sluice.'))
    expect(total(sums.map(({ value }) => value))).toBe(total(counters.map(([, value]) => value)))
    const waits = of('sluice.policy.wait', { 'sluice.policy': 'login' })!
    expect(waits).toMatchObject({ kind: 'histogram', unit: 's', value: 1 })
    expect(waits.sum).toBe(samples.get('sluice_policy_wait_seconds_sum{domain="shop",policy="login"}'))
    expect(total(waits.buckets!)).toBe(1)
    expect(of('process.cpu.time', { 'cpu.mode': 'user' })).toMatchObject({ kind: 'sum', unit: 's' })
    expect(of('nodejs.eventloop.delay.p99')).toMatchObject({ unit: 's' })
  })

  test('have the durations of HTTP and gRPC under the names of the conventions, by routes of the service alone', async () => {
    const service = await traced()
    await service.ask(LOGIN)
    await service.ask(LOGIN)
    await service.http.inject({ method: 'GET', url: '/somewhere/else/42' })
    await service.shouldRateLimit({ domain: 'shop', descriptors: [entries('user', 'ada')] }, {}, 60_000)
    await service.shouldRateLimit({ domain: '' }, {}, 60_000).catch(() => undefined)
    await service.sent()
    const durations = (name: string) =>
      receiver.series
        .filter((each) => each.name === name)
        .map(({ attributes, value, unit }) => ({ attributes, value, unit }))
    const http = { 'http.request.method': 'POST', 'http.route': '/v1/check', 'url.scheme': 'http' }
    expect(durations('http.server.request.duration')).toEqual([
      { unit: 's', value: 2, attributes: { ...http, 'http.response.status_code': 200 } },
      {
        unit: 's',
        value: 1,
        attributes: { 'http.request.method': 'GET', 'url.scheme': 'http', 'http.response.status_code': 404 },
      },
    ])
    const rpc = {
      'rpc.system.name': 'grpc',
      'rpc.method': 'envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
    }
    expect(durations('rpc.server.call.duration')).toEqual([
      { unit: 's', value: 1, attributes: { ...rpc, 'rpc.response.status_code': 'OK' } },
      { unit: 's', value: 1, attributes: { ...rpc, 'rpc.response.status_code': 'INVALID_ARGUMENT' } },
    ])
  })

  test('belong to a service that the variables name', async () => {
    vi.stubEnv('OTEL_SERVICE_NAME', 'limits of the shop')
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=staging')
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-tenant=shop')
    const service = await traced()
    await service.sent()
    expect(receiver.resource).toMatchObject({
      'service.name': 'limits of the shop',
      'service.version': '0.1.0',
      'deployment.environment.name': 'staging',
    })
    expect(receiver.headers[0]).toMatchObject({ 'x-tenant': 'shop' })
  })
})

describe('spans', () => {
  test('of HTTP continue the trace of the caller, and say what was decided, never for which key', async () => {
    const service = await traced()
    for (let i = 0; i < 3; i++) await service.ask(LOGIN, { traceparent: TRACEPARENT })
    await service.sent()
    expect(receiver.spans.map(({ trace, parent }) => [trace, parent])).toEqual(Array(3).fill([TRACE, PARENT]))
    expect(receiver.spans[2]).toMatchObject({
      name: 'POST /v1/check',
      kind: 2,
      status: 0,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/check',
        'http.response.status_code': 200,
        'sluice.domain': 'shop',
        'sluice.policy': 'login',
        'sluice.outcome': 'denied',
        'sluice.limit': 2,
        'sluice.remaining': 0,
        'sluice.retry_after_ms': 1_800_000,
      },
    })
    expect(JSON.stringify(receiver.spans)).not.toContain('192.0.2.7')
  })

  test('of gRPC do too, from its metadata', async () => {
    const service = await traced()
    const request = { domain: 'shop', descriptors: [entries('user', 'ada')] }
    await service.shouldRateLimit(request, { traceparent: TRACEPARENT }, 60_000)
    await service.shouldRateLimit(request, { traceparent: TRACEPARENT }, 60_000)
    await service.sent()
    expect(receiver.spans[1]).toMatchObject({
      trace: TRACE,
      parent: PARENT,
      kind: 2,
      name: 'envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
      attributes: { 'rpc.system.name': 'grpc', 'rpc.response.status_code': 'OK', 'sluice.outcome': 'denied' },
    })
  })

  test('of a call that fails say how, and by whose fault', async () => {
    const service = await traced()
    await service.shouldRateLimit({ domain: '' }, {}, 60_000).catch(() => undefined)
    await service.sent()
    expect(receiver.spans).toMatchObject([
      { status: 0, attributes: { 'rpc.response.status_code': 'INVALID_ARGUMENT' } },
    ])
  })

  test('of a shared store are below that of the request, in every request', async () => {
    const service = await traced({ store: new GatedStore() as never })
    const requests = [
      service.ask(LOGIN),
      service.shouldRateLimit({ domain: 'shop', descriptors: [entries('user', 'ada')] }, {}, 60_000),
    ]
    await Promise.all(requests)
    await service.sent()
    const servers = receiver.spans.filter(({ kind }) => kind === 2)
    const calls = receiver.spans.filter(({ name }) => name === 'sluice.store decide')
    expect(servers).toHaveLength(2)
    expect(calls.map(({ trace, parent }) => `${trace} ${parent}`).sort()).toEqual(
      servers.map(({ trace, id }) => `${trace} ${id}`).sort(),
    )
    expect(calls[0]).toMatchObject({ kind: 3, attributes: { 'sluice.store.call': 'decide' } })
  })

  test('of a batch have its further decisions as events', async () => {
    const service = await traced()
    await post(service.http, '/v1/check/batch', [LOGIN, LOGIN, LOGIN]).then(({ status }) =>
      expect(status).toBe(200),
    )
    await service.sent()
    expect(receiver.spans[0]).toMatchObject({
      attributes: { 'sluice.outcome': 'allowed', 'sluice.remaining': 1 },
      events: [
        { name: 'sluice.decision', attributes: { 'sluice.outcome': 'allowed' } },
        { name: 'sluice.decision', attributes: { 'sluice.outcome': 'denied' } },
      ],
    })
  })

  test('are made where the caller samples', async () => {
    vi.stubEnv('OTEL_TRACES_SAMPLER', 'parentbased_always_off')
    const service = await traced()
    await service.ask(LOGIN)
    await service.ask(LOGIN, { traceparent: TRACEPARENT.replace(/01$/, '00') })
    await service.ask(LOGIN, { traceparent: TRACEPARENT })
    await service.sent()
    expect(receiver.spans).toMatchObject([{ trace: TRACE }])
  })
})

test('a traceparent that is none begins a trace', async () => {
  const service = await traced()
  await service.ask(LOGIN, { traceparent: '00-not-a-trace-00' })
  await service.sent()
  expect(receiver.spans).toMatchObject([{ trace: expect.stringMatching(/^[\da-f]{32}$/), parent: '' }])
})

test('a collector that fails is written to the log once a minute, and no answer waits for it', async () => {
  const failing = await otlpReceiver(400)
  onTestFinished(() => failing.close())
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', failing.url)
  vi.stubEnv('OTEL_BSP_MAX_QUEUE_SIZE', '10')
  vi.stubEnv('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '10')
  const lines: string[] = []
  const service = await traced({ log: { level: 'warn', stream: { write: (line) => void lines.push(line) } } })
  for (let i = 0; i < 200; i++) expect((await service.ask(LOGIN)).statusCode).toBe(200)
  await service.sent()
  expect(failing.headers.length).toBeGreaterThan(1)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'traces or metrics could not be sent: they are dropped', failures: 1 },
  ])
})

test.each([
  ['OTEL_TRACES_SAMPLER', 'sometimes', /OTEL_TRACES_SAMPLER must be always_on or .*, not "sometimes"/],
  ['OTEL_TRACES_SAMPLER_ARG', '7', /OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1, not 7/],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf, not "grpc"/],
  ['OTEL_METRICS_EXPORTER', 'prometheus', /OTEL_METRICS_EXPORTER must be otlp or none/],
  ['OTEL_METRIC_EXPORT_INTERVAL', '-1', /OTEL_METRIC_EXPORT_INTERVAL must be milliseconds above 0/],
])('%s=%s is refused, where the SDK would pass it over', (name, value, message) => {
  vi.stubEnv(name, value)
  expect(() => openTelemetry()).toThrow(message)
})

test('a signal that is switched off is not sent', async () => {
  vi.stubEnv('OTEL_METRICS_EXPORTER', 'none')
  vi.stubEnv('OTEL_SDK_DISABLED', 'TRUE')
  const service = await traced()
  await service.ask(LOGIN, { traceparent: TRACEPARENT })
  await service.sent()
  expect(receiver.headers).toEqual([])
})

function total(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0)
}

function matches(given: object, wanted: object): boolean {
  return Object.entries(wanted).every(([name, value]) => (given as Record<string, unknown>)[name] === value)
}
