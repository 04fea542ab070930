import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { otlpReceiver } from '../../../service/src/telemetry/otlp-receiver.test-support.ts'
import { type ServedRun, served, servedBin, servedRules } from './served.test-support.ts'

function ask({ url }: ServedRun): Promise<Response> {
  return fetch(`${url}/v1/check`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
    body: JSON.stringify({ domain: 'shop', request: { method: 'POST', path: '/login', ip: '192.0.2.7' } }),
  })
}

/** Packages of OpenTelemetry, without its API: prom-client has that. */
function namesOf(loaded: ReadonlyMap<string, number>): readonly string[] {
  return [...loaded.keys()].filter((name) => /^@opentelemetry.(?!api$)/.test(name))
}

test('--otel sends what was decided to the collector that the variables name', async () => {
  const receiver = await otlpReceiver()
  onTestFinished(() => receiver.close())
  const service = await served(['--otel'], { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  for (let i = 0; i < 3; i++) await ask(service)
  expect(namesOf(await service.stop())).not.toEqual([])
  expect(receiver.spans).toHaveLength(3)
  expect(receiver.spans[0]!.trace).toBe('0af7651916cd43dd8448eb211c80319c')
  const requests = receiver.series.filter(({ name }) => name === 'sluice.requests')
  expect(requests.reduce((sum, { value }) => sum + value, 0)).toBe(3)
  expect(receiver.resource['service.name']).toBe('sluice')
})

test('without it nothing of OpenTelemetry is loaded, and no answer has a further header', async () => {
  const receiver = await otlpReceiver()
  onTestFinished(() => receiver.close())
  const service = await served([], { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  const { headers } = await ask(service)
  expect([...headers.keys()].filter((name) => /trace|otel/.test(name))).toEqual([])
  expect(namesOf(await service.stop())).toEqual([])
  expect(receiver.headers).toEqual([])
})

test('a variable that cannot be followed stops it, in words', async () => {
  const line = [servedBin, 'serve', servedRules, '--otel']
  const child = spawn(process.execPath, line, { env: { ...process.env, OTEL_TRACES_SAMPLER: 'never' } })
  let err = ''
  child.stderr.on('data', (chunk) => (err += chunk))
  const [code] = await once(child, 'close')
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/^sluice: OTEL_TRACES_SAMPLER must be always_on or .*\n/),
  ])
})
