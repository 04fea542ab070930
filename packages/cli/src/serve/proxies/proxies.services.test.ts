import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../../limiter/src/free-port.test-support.ts'
import { type Answer, type Asked, ask, askTimes } from './client.test-support.ts'
import {
  type App,
  Cleanup,
  copyOfExample,
  type Ports,
  type Program,
  ROOT,
  startApp,
  startProgram,
} from './processes.test-support.ts'

/** What a proxy does with a request that Sluice has not answered: its status, or `waits`. */
interface Unanswered {
  readonly hung: number | 'waits'
  readonly gone: number
}

interface Proxy {
  readonly name: string
  readonly example: string
  readonly command: (folder: string) => readonly [string, ...string[]]
  /** Makes its time-outs long: on a busy machine the service may answer late. */
  readonly patient: (text: string) => string
  readonly open: Unanswered
  readonly closed: Unanswered
  /** It cannot put limit headers on the app's answers. */
  readonly withoutHeaders?: true
  /** It cannot pass a refusal's body on, and writes one of its own. */
  readonly ownBody?: true
}

const PASSES: Unanswered = { hung: 200, gone: 200 }
const REFUSES: Unanswered = { hung: 503, gone: 503 }

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    example: 'nginx-auth',
    command: (folder) => [
      'nginx',
      ...['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'],
      '-g',
      `daemon off; pid ${folder}/pid;`,
    ],
    patient: (text) => text.replaceAll('90ms', '20s'),
    open: PASSES,
    closed: REFUSES,
    ownBody: true,
  },
  {
    name: 'Caddy',
    example: 'caddy',
    command: () => ['caddy', 'run', '--adapter', 'caddyfile', '--config', 'Caddyfile'],
    patient: (text) => text.replace('250ms', '20s'),
    open: PASSES,
    closed: REFUSES,
  },
  {
    name: 'Traefik',
    example: 'traefik',
    command: () => ['traefik', '--configFile=traefik.yaml'],
    patient: (text) => text,
    open: { hung: 'waits', gone: 500 },
    closed: { hung: 'waits', gone: 500 },
    withoutHeaders: true,
  },
  {
    name: 'HAProxy',
    example: 'haproxy',
    command: () => ['haproxy', '-f', 'haproxy.cfg'],
    patient: (text) =>
      text.replace('SECONDS = 0.25', 'SECONDS = 20').replace('service-timeout 1s', 'service-timeout 20s'),
    open: PASSES,
    closed: REFUSES,
  },
  {
    name: 'Envoy over HTTP',
    example: 'envoy-ext-authz',
    command: () => [
      'envoy',
      '-c',
      'envoy.yaml',
      ...['--use-dynamic-base-id', '--concurrency', '1', '-l', 'error'],
    ],
    patient: (text) => text.replace('timeout: 0.25s', 'timeout: 20s'),
    open: PASSES,
    closed: REFUSES,
  },
  {
    name: 'Envoy over gRPC',
    example: 'envoy-ext-authz',
    command: () => [
      'envoy',
      '-c',
      'envoy-grpc.yaml',
      ...['--use-dynamic-base-id', '--concurrency', '1', '-l', 'error'],
    ],
    patient: (text) => text.replace('timeout: 0.25s', 'timeout: 20s'),
    open: PASSES,
    closed: REFUSES,
  },
]

const cleanup = new Cleanup()
let app: App
let limiterPort: number
let grpcPort: number
let limiter: Program
beforeAll(async () => {
  app = await startApp(cleanup)
  limiterPort = await freePort()
  grpcPort = await freePort()
  const address = [
    '--http',
    `127.0.0.1:${limiterPort}`,
    '--admin',
    '127.0.0.1:0',
    '--grpc',
    `127.0.0.1:${grpcPort}`,
  ]
  const sluice = ['packages/cli/bin/sluice.js', 'serve', 'examples/rulebook', '--trusted', '127.0.0.1']
  limiter = await startProgram(
    cleanup,
    [process.execPath, ...sluice, ...address],
    [limiterPort, grpcPort],
    ROOT,
  )
})
afterAll(() => cleanup.run())

const login = (more: Asked = {}): Asked => ({ method: 'POST', path: '/login?next=%2F', body: 'x=1', ...more })
const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status)
const FIVE = [200, 200, 200, 200, 200]

test('acceptance 2.3: nginx waits for less than 100 ms', () => {
  const config = readFileSync(join(ROOT, 'examples/nginx-auth/nginx.conf'), 'utf8')
  const waits = [...config.matchAll(/proxy_(?:connect|read)_timeout (\d+)ms;/g)].map(([, ms]) => Number(ms))
  expect(waits).toHaveLength(2)
  expect(Math.max(...waits)).toBeLessThan(100)
})

describe.each(proxies)('behind $name', (proxy) => {
  let patient: number
  let hasty: number
  const started = new Cleanup()

  const start = async (change: (text: string) => string): Promise<number> => {
    const ports: Ports = { proxy: await freePort(), limiter: limiterPort, grpc: grpcPort, app: app.port }
    const folder = copyOfExample(started, proxy.example, ports, change)
    await startProgram(started, proxy.command(folder), [ports.proxy], folder)
    for (;;) if ((await ask(ports.proxy)).status === 200) return ports.proxy // Traefik loads its routes later
  }
  beforeAll(async () => {
    await limiter.kill()
    await limiter.start() // empty
    ;[patient, hasty] = await Promise.all([start(proxy.patient), start((text) => text)])
  })
  afterAll(() => started.run())

  test('acceptance 2.1: the sixth login of a minute is refused, with its figures', async () => {
    const answers = await askTimes(6, patient, () => login())
    expect(statuses(answers)).toEqual([...FIVE, 429])
    expect(JSON.parse(answers[0]!.body)).toMatchObject({ method: 'POST', url: '/login?next=%2F', body: 3 })
    if (!proxy.withoutHeaders)
      expect(answers[1]!.headers).toMatchObject({
        ratelimit: expect.stringMatching(/^"login";r=3;t=60, /),
        'ratelimit-policy': expect.stringMatching(/^"login";q=5;w=60, /),
      })
    const { headers, body } = answers[5]!
    expect(headers).toMatchObject({
      ratelimit: expect.stringMatching(/^"login";r=0;t=\d+, /),
      'retry-after': expect.stringMatching(/^[1-6]?\d$/),
      'content-type': expect.stringMatching(/^application\/problem\+json/),
    })
    expect(JSON.parse(body)).toMatchObject({ status: 429 })
    if (!proxy.ownBody) expect(JSON.parse(body)).toMatchObject({ 'violated-policies': ['login'] })
  })

  test('acceptance 2.2: 20 forged addresses share one counter', async () => {
    const forged = (i: number): Asked =>
      login({
        headers: {
          'x-forwarded-for': `198.51.100.${i}`,
          'x-real-ip': `198.51.100.${i}`,
          forwarded: `for=198.51.100.${i}`,
        },
      })
    expect(statuses(await askTimes(20, patient, forged))).toEqual(Array(20).fill(429))
  })

  test('what else a client may forge changes nothing', async () => {
    const headers = {
      'x-forwarded-method': 'GET',
      'x-forwarded-uri': '/cheap',
      'x-original-uri': '/cheap',
      'x-forwarded-host': 'a.example',
    }
    const other = { 'content-encoding': 'gzip', expect: '100-continue', origin: 'null' }
    expect(
      statuses([await ask(patient, login({ headers })), await ask(patient, login({ headers: other }))]),
    ).toEqual([429, 429])
    for (const path of [
      '/login?deny=200&domain=messaging',
      '//login',
      '/./login',
      '/%6Cogin/',
      `http://127.0.0.1:${patient}/login`,
    ])
      expect(statuses([await ask(patient, login({ path }))]), path).toEqual([429])
    expect(statuses([await ask(patient, { method: 'OPTIONS', path: '*' })]), '*').not.toContain(500)
  })

  test('another client has a counter of its own', async () => {
    const answers = statuses(await askTimes(6, patient, () => login({ from: '127.0.0.2' })))
    expect(answers).toEqual([...FIVE, 429])
  })

  test('headers too large for Sluice do not let a request pass', async () => {
    const headers = { cookie: 'c'.repeat(7_000), 'x-a': 'a'.repeat(7_000), 'x-b': 'b'.repeat(7_000) }
    expect((await ask(patient, login({ headers }))).status).toBeGreaterThanOrEqual(400)
  })

  test('acceptance 2.3: while Sluice hangs, requests pass or not as the example says; then all is exact', async () => {
    limiter.pause()
    try {
      for (const [asked, { hung }] of [
        [{}, proxy.open],
        [login(), proxy.closed],
      ] as const) {
        if (hung === 'waits')
          await expect(ask(hasty, { ...asked, patience: 500 })).rejects.toThrow('no answer')
        else {
          const { status, body } = await ask(hasty, asked)
          expect(status).toBe(hung)
          if (status === 200) expect(JSON.parse(body)).toMatchObject({ url: '/' })
        }
      }
    } finally {
      limiter.resume()
    }
    expect(statuses([await ask(patient, {}), await ask(patient, login())])).toEqual([200, 429])
  })

  test('a request on which the app dies is not sent to it again', async () => {
    const before = app.deaths
    expect((await ask(patient, { method: 'POST', path: '/die', body: 'x' })).status).toBeGreaterThanOrEqual(
      500,
    )
    expect(app.deaths - before).toBe(1)
  })

  test('while Sluice is gone, and when it is back', async () => {
    await limiter.kill()
    expect(statuses([await ask(hasty, {}), await ask(hasty, login())])).toEqual([
      proxy.open.gone,
      proxy.closed.gone,
    ])
    await limiter.start()
    expect(statuses(await askTimes(6, patient, () => login()))).toEqual([...FIVE, 429])
  })
})
