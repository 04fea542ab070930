import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { otlpReceiver } from '../../../service/src/telemetry/otlp-receiver.test-support.ts'

const bin = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))
const rules = fileURLToPath(new URL('../../fixtures/rules/shop.yaml', import.meta.url))
/** Prints, at its end, how many modules of OpenTelemetry a process has loaded, without its API: prom-client has that. */
const LOADED = `data:text/javascript,${encodeURIComponent(`
  import { createRequire } from 'node:module'
  const { cache } = createRequire('/')
  process.on('exit', () => {
    const loaded = Object.keys(cache).filter((file) => /@opentelemetry.(?!api\\b)/.test(file))
    console.error('loaded ' + loaded.length)
  })
`)}`

interface Served {
  readonly url: string
  stop(): Promise<string>
}

async function served(argv: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Served> {
  const line = [
    bin,
    'serve',
    rules,
    '--http',
    '127.0.0.1:0',
    '--admin',
    '127.0.0.1:0',
    '--idle-time',
    '0',
    ...argv,
  ]
  const child = spawn(process.execPath, ['--import', LOADED, ...line], { env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let err = ''
  child.stdout.resume()
  child.stderr.on('data', (chunk) => (err += chunk))
  const listening = /^sluice listens at ([^,]+),/
  while (!listening.test(err)) await Promise.race([once(child.stderr, 'data'), once(child, 'close')])
  return {
    url: listening.exec(err)![1]!,
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'close')
      return err
    },
  }
}

function ask({ url }: Served): Promise<Response> {
  return fetch(`${url}/v1/check`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
    body: JSON.stringify({ domain: 'shop', request: { method: 'POST', path: '/login', ip: '192.0.2.7' } }),
  })
}

test('--otel sends what was decided to the collector that the variables name', async () => {
  const receiver = await otlpReceiver()
  onTestFinished(() => receiver.close())
  const service = await served(['--otel'], { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  for (let i = 0; i < 3; i++) await ask(service)
  expect(await service.stop()).toMatch(/loaded [1-9]/)
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
  expect(await service.stop()).toMatch(/loaded 0/)
  expect(receiver.headers).toEqual([])
})

test('a variable that cannot be followed stops it, in words', async () => {
  const line = [bin, 'serve', rules, '--otel']
  const child = spawn(process.execPath, line, { env: { ...process.env, OTEL_TRACES_SAMPLER: 'never' } })
  let err = ''
  child.stderr.on('data', (chunk) => (err += chunk))
  const [code] = await once(child, 'close')
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/^sluice: OTEL_TRACES_SAMPLER must be always_on or .*\n/),
  ])
})
