import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import { RulebookError } from '@sluice/rulebook'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createService, type Service } from './service.ts'
import type { ServiceOptions } from './service-options.ts'
import { GatedStore, type RulesFolder, rulesFolder } from './testing.ts'

const rulesOf = (limit: string): string =>
  `domain: d\nlimits: [{ name: n, key: [], limit: ${limit}, algorithm: fixed-window }]\n`
const BODY = JSON.stringify({ domain: 'd', request: {} })

interface Running {
  readonly service: Service
  readonly folder: RulesFolder
  readonly http: string
  readonly admin: string
}

const closing: (() => Promise<unknown> | undefined)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function run(options: Partial<ServiceOptions> = {}, limit = '1000000/365d'): Promise<Running> {
  const folder = await rulesFolder({ 'rules.yaml': rulesOf(limit) })
  closing.push(folder.remove)
  const service = createService({
    rules: [folder.path],
    watch: false,
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    log: { level: 'silent' },
    ...options,
  })
  const urls = await service.start()
  closing.push(() => service.stop())
  return { service, folder, ...urls }
}

function keptAlive(maxSockets: number): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets })
  closing.push(async () => agent.destroy())
  return agent
}

interface Received {
  readonly status: number
  readonly connection: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any
}

/** Rejects unless the whole answer arrives. */
function send(url: string, body = BODY, agent?: Agent, method = 'POST'): Promise<Received> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(url, { method, headers, ...(agent !== undefined && { agent }) }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        if (!response.complete) return reject(new Error('the answer was cut'))
        const { connection } = response.headers
        resolve({
          status: response.statusCode!,
          connection,
          body: JSON.parse(Buffer.concat(chunks).toString()),
        })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const check = (http: string, agent?: Agent): Promise<Received> => send(`${http}/v1/check`, BODY, agent)

/** Writes to a socket, and reads until it closes. */
function speak(http: string, sent: string): Promise<string> {
  const { hostname, port } = new URL(http)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
    socket.write(sent)
  })
}

const raw = (body: string, length = Buffer.byteLength(body), more = ''): string =>
  `POST /v1/check HTTP/1.1\r\nHost: d\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n${body}`

describe('stop', () => {
  test('answers 500 requests in flight, each whole and counted, and takes no others', async () => {
    const store = new GatedStore()
    const { service, http, admin } = await run({ store, fallback: { deadlineMs: 60_000 } })
    store.shut()
    const agent = keptAlive(500)
    const sent = Array.from({ length: 500 }, () => check(http, agent))
    await vi.waitFor(() => expect(store.waiting).toBe(500), 60_000)

    const stopped = service.stop()
    expect(await send(`${admin}/readyz`, '', undefined, 'GET')).toMatchObject({
      status: 503,
      body: { ready: false, reasons: ['the service is stopping'] },
    })
    await expect(check(http)).rejects.toThrow('ECONNREFUSED')

    store.open()
    const received = await Promise.all(sent)
    await stopped
    expect(new Set(received.map(({ status, connection }) => `${status} ${connection}`))).toEqual(
      new Set(['200 close']),
    )
    const remaining = received.map(({ body }) => body.remaining as number)
    expect(remaining.sort((a, b) => b - a)).toEqual(Array.from({ length: 500 }, (_, i) => 999_999 - i))
    await expect(send(`${admin}/healthz`, '', undefined, 'GET')).rejects.toThrow(
      /ECONNREFUSED|socket hang up/,
    )
  })

  test('under load, whatever was charged was answered', async () => {
    const store = new MemoryStore()
    const { service, http } = await run({ store })
    const agent = keptAlive(20)
    const remaining: number[] = []
    const errors: string[] = []
    let stopped: Promise<void> | undefined
    const work = async (): Promise<void> => {
      for (;;) {
        const answer = await check(http, agent).catch((error: NodeJS.ErrnoException) => error)
        if (answer instanceof Error)
          return void errors.push((answer as NodeJS.ErrnoException).code ?? answer.message)
        remaining.push(answer.body.remaining)
        if (remaining.length === 500) stopped = service.stop()
      }
    }
    await Promise.all(Array.from({ length: 20 }, work))
    await stopped
    expect(remaining.length).toBeGreaterThanOrEqual(500)
    expect(remaining.sort((a, b) => b - a)).toEqual(remaining.map((_, i) => 999_999 - i))
    const next = await run({ store })
    const look = await send(`${next.http}/v1/check?peek`)
    expect(look.body.remaining).toBe(1_000_000 - remaining.length)
    expect(errors.filter((code) => code !== 'ECONNREFUSED' && code !== 'ECONNRESET')).toEqual([])
  })

  test.each(['http', 'admin'] as const)(
    'OF-32: each of 96 idle connections to %s is answered once more, is told that it ends, and ends',
    async (which) => {
      const { service, ...urls } = await run({ idleMs: 3_600_000, drainMs: 3_600_000 })
      const ask = (agent?: Agent): Promise<Received> =>
        which === 'http' ? check(urls.http, agent) : send(`${urls.admin}/v1/rules`, '', agent, 'GET')
      const agent = keptAlive(96)
      await Promise.all(Array.from({ length: 96 }, () => ask(agent)))
      const idle = Object.values(agent.freeSockets).flat().length
      expect(idle).toBe(96)

      const stopped = service.stop()
      const received: Received[] = []
      for (let i = 0; i < 3; i++) {
        if (i > 0) await new Promise((resolve) => setTimeout(resolve, 100))
        received.push(...(await Promise.all(Array.from({ length: 32 }, () => ask(agent)))))
      }
      expect(received.map(({ status, connection }) => `${status} ${connection}`)).toEqual(
        received.map(() => '200 close'),
      )
      await stopped // with the last of them, though both times are an hour
      await expect(ask()).rejects.toThrow('ECONNREFUSED')
    },
  )

  test('OF-32: waits for connections that stay idle as long as idleMs, not as long as drainMs', async () => {
    const { service, http } = await run({ idleMs: 50, drainMs: 3_600_000 })
    const agent = keptAlive(5)
    await Promise.all(Array.from({ length: 5 }, () => check(http, agent)))
    await service.stop()
  })

  test('waits for no connection on which nothing has come, as browsers open them ahead', async () => {
    const { service, http, admin } = await run({ idleMs: 50, drainMs: 3_600_000 })
    const silent = [http, admin].map((url) => connect(Number(new URL(url).port), '127.0.0.1'))
    await Promise.all(silent.map((socket) => once(socket, 'connect')))
    await check(http)
    await service.stop()
    for (const socket of silent) socket.destroy()
  })

  test('OF-32: asked a second time waits for no idle connection', async () => {
    const { service, http, admin } = await run({ idleMs: 3_600_000, drainMs: 3_600_000 })
    const agent = keptAlive(5)
    await Promise.all([check(http, agent), send(`${admin}/healthz`, '', agent, 'GET')])
    const stopped = service.stop()
    expect(service.stop()).toBe(stopped)
    await stopped
  })

  test.each([
    ['asked a second time', {}],
    ['after drainMs', { drainMs: 50 }],
  ])('%s cuts what is still open', async (when, options) => {
    const store = new GatedStore()
    const { service, http } = await run({
      store,
      fallback: { deadlineMs: 60_000 },
      drainMs: 3_600_000,
      ...options,
    })
    store.shut()
    const cut = expect(check(http)).rejects.toThrow('socket hang up')
    await vi.waitFor(() => expect(store.waiting).toBe(1), 60_000)
    const stopped = service.stop()
    if (when === 'asked a second time') expect(service.stop()).toBe(stopped)
    await Promise.all([stopped, cut])
    store.open()
  })
})

describe('start', () => {
  test('refuses a rulebook with mistakes', async () => {
    await expect(run({}, '5/minuet')).rejects.toThrow(RulebookError)
  })

  test.each(['http', 'admin'])(
    'refuses an address in use for %s, and lets go of the other',
    async (which) => {
      const first = await run()
      const { host } = new URL(first.http)
      await expect(run({ [which]: host })).rejects.toMatchObject({
        path: [which],
        message: expect.stringContaining('EADDRINUSE'),
      })
      await first.service.stop()
      const [http, admin] = [new URL(first.http).host, new URL(first.admin).host]
      await run({ http, admin })
    },
  )
})

describe('reload', () => {
  test('under load loses nothing: what was used counts, and a file with a mistake changes nothing', async () => {
    const { service, folder, http, admin } = await run({}, '100000/365d')
    const agent = keptAlive(10)
    const used: number[] = []
    let done = false
    const work = async (): Promise<void> => {
      while (!done) {
        const { status, body } = await check(http, agent)
        expect(status).toBe(200)
        used.push(body.limit - body.remaining)
      }
    }
    const workers = Promise.all(Array.from({ length: 10 }, work))
    for (const limit of ['200000/365d', '5/minuet', '300000/365d', '', '400000/365d']) {
      const before = used.length
      await folder.write('rules.yaml', rulesOf(limit))
      await service.reload()
      await vi.waitFor(() => expect(used.length).toBeGreaterThan(before + 100), 60_000)
    }
    done = true
    await workers
    expect(used.sort((a, b) => a - b)).toEqual(used.map((_, i) => i + 1))
    const { body } = await send(`${admin}/v1/rules`, '', undefined, 'GET')
    expect(body).toMatchObject({ error: null, domains: [{ limits: [{ limit: { limit: 400_000 } }] }] })
  })

  test('comes by itself when a file changes', async () => {
    const { folder, http, admin } = await run({ watch: { settleMs: 20 } }, '10/365d')
    expect((await check(http)).body.limit).toBe(10)
    await folder.write('rules.yaml', rulesOf('5/minuet'))
    const rules = (): Promise<Received> => send(`${admin}/v1/rules`, '', undefined, 'GET')
    await vi.waitFor(async () => expect((await rules()).body.error).not.toBeNull(), 60_000)
    expect((await check(http)).body).toMatchObject({ limit: 10, remaining: 8 })
    await folder.write('rules.yaml', rulesOf('20/365d'))
    await vi.waitFor(async () => expect((await check(http)).body.limit).toBe(20), 60_000)
    expect((await rules()).body.error).toBeNull()
  })
})

describe('on the wire', () => {
  test('T11: pipelined requests are answered in order, each with figures of its own', async () => {
    const { http } = await run({}, '3/365d')
    const answers = await speak(http, raw(BODY).repeat(4) + raw(BODY, undefined, 'Connection: close\r\n'))
    const bodies = [...answers.matchAll(/\r\n\r\n(\{.*?\})(?=HTTP|$)/gs)].map(([, body]) => JSON.parse(body!))
    expect(bodies.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
      [false, 0],
    ])
  })

  test.each([
    ['a head that never ends', 'POST /v1/check HTTP/1.1\r\nHost: d\r\n', 408],
    ['a body that never comes', raw('', BODY.length), 408],
    ['half a body', raw(BODY.slice(0, 20), BODY.length), 408],
    ['headers of 20 KB', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['what is not HTTP', '\x16\x03\x01\x02\x00\r\n\r\n', 400],
    ['a megabyte', raw('x'.repeat(1_048_576)), 413],
    ['two lengths', raw(BODY, undefined, 'Content-Length: 5\r\n'), 400],
    ['a body longer than it says', raw(BODY, 10), 400],
  ])('%s is a problem, ends the connection and charges nothing', async (_name, sent, status) => {
    const store = new MemoryStore()
    const { http } = await run({ store, bounds: { requestTimeoutMs: status === 408 ? 1_000 : 60_000 } })
    const [head, body] = (await speak(http, sent)).split('\r\n\r\n', 2)
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(head).toMatch(/content-type: application\/problem\+json/i)
    expect(JSON.parse(body!)).toMatchObject({ type: 'about:blank', status })
    expect(store.size).toBe(0)
    expect((await check(http)).body.remaining).toBe(999_999)
  })

  test('a client that leaves in the middle of its body charges nothing', async () => {
    const store = new MemoryStore()
    const { http } = await run({ store })
    const { hostname, port } = new URL(http)
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(raw(BODY.slice(0, 20), BODY.length), () => socket.destroy())
      })
      socket.on('close', () => resolve())
    })
    expect((await check(http)).body.remaining).toBe(999_999)
    expect(store.size).toBe(1)
  })

  test('a connection too many is dropped', async () => {
    const { http } = await run({ bounds: { maxConnections: 2 } })
    const agent = keptAlive(2)
    await Promise.all([check(http, agent), check(http, agent)])
    await expect(check(http)).rejects.toThrow(/socket hang up|ECONNRESET/)
    expect((await check(http, agent)).status).toBe(200)
  })
})
