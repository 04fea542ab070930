import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type FailingRedis,
  failures,
  startFailingRedis,
} from '../../../limiter/src/stores/redis/failures.test-support.ts'
import { startProxy } from '../../../limiter/src/stores/redis/proxy.test-support.ts'
import { startRedis } from '../../../limiter/src/stores/redis/server.test-support.ts'
import { main } from '../main.ts'
import { type FakeIo, fakeIo } from '../testing.ts'

const rules = fileURLToPath(new URL('../../fixtures/rules/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Served extends FakeIo {
  readonly done: Promise<number>
  /** The lines to try, as a shell reads their arguments. */
  readonly lines: readonly (readonly string[])[]
}

async function serve(...argv: string[]): Promise<Served> {
  const fake = fakeIo()
  const done = main(['serve', '--http', '127.0.0.1:0', '--admin', '127.0.0.1:0', ...argv], fake.io)
  await vi.waitFor(() => expect(fake.err()).toMatch(/\/v1\/rules\n/), 60_000)
  const lines = fake.err().match(/^ {2}curl .*$/gm)!
  return { ...fake, done, lines: lines.map(argumentsOf) }
}

function argumentsOf(line: string): string[] {
  return execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${line}`])
    .toString()
    .trimEnd()
    .split('\n')
}

interface Answer {
  readonly allowed: boolean
  readonly policy: string
  readonly limit: number
  readonly remaining: number
  readonly degraded: boolean
}

async function post(line: readonly string[]): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(line[1]!, { method: 'POST', headers, body: line[5]! })
  expect(response.status).toBe(200)
  return (await response.json()) as Answer
}

describe('sluice serve', () => {
  it('tells what to try, answers it, and stops when told', async () => {
    const { done, lines, signal, err } = await serve(`${rules}shop.yaml`, `${rules}messaging.yaml`)
    const [live, ...checks] = lines.toReversed()
    expect((await Promise.all(checks.map(post))).map(({ policy }) => policy).toSorted()).toEqual([
      'login',
      'message_type_marketing',
    ])
    expect(await (await fetch(live![1]!)).json()).toMatchObject({ domains: [{}, {}] })
    signal('SIGTERM')
    expect(await done).toBe(0)
    await expect(fetch(live![1]!)).rejects.toThrow()
    expect(signal('SIGTERM')).toBe(false)
    expect(err()).toMatch(/^sluice listens at http/)
  })

  it('reloads on SIGHUP, and keeps the rules in force when there is a mistake', async () => {
    const path = join(folder, 'rules.yaml')
    const limit = (count: number): string =>
      `domain: d\nlimits: [{ name: n, key: [], limit: ${count}/day }]\n`
    writeFileSync(path, limit(1))
    const { done, lines, signal, out } = await serve('--no-watch', path)
    const [line] = lines
    expect(await post(line!)).toMatchObject({ allowed: true })
    expect(await post(line!)).toMatchObject({ allowed: false })
    writeFileSync(path, limit(3))
    signal('SIGHUP')
    await vi.waitFor(async () => expect(await post(line!)).toMatchObject({ allowed: true, limit: 3 }), 60_000)
    writeFileSync(path, 'domain: d\nlimitz: []\n')
    signal('SIGHUP')
    await vi.waitFor(() => expect(out()).toMatch(/limitz/), 60_000)
    expect(await post(line!)).toMatchObject({ limit: 3 })
    signal('SIGINT')
    expect(await done).toBe(0)
  })

  it('sends the headers of the dialect that was asked for', async () => {
    const { done, lines, signal } = await serve(`${rules}messaging.yaml`, '--dialect', 'github')
    expect(await post(lines[0]!)).toMatchObject({ headers: { 'X-RateLimit-Limit': '5' } })
    signal('SIGTERM')
    expect(await done).toBe(0)
  })

  it('answers by the rules while its store is gone, says so, and stops all the same', async () => {
    const redis = await startRedis()
    const proxy = await startProxy(redis.port)
    try {
      const store = ['--store', `redis://127.0.0.1:${proxy.port}`]
      const { done, lines, signal, out, err } = await serve(`${rules}messaging.yaml`, ...store)
      const mostly = { timeout: 60_000 }
      await vi.waitFor(async () => expect(await post(lines[0]!)).toMatchObject({ degraded: false }), mostly)
      proxy.losesAnswers = true
      await vi.waitFor(async () => {
        expect(await post(lines[0]!)).toMatchObject({ degraded: true })
        expect(out()).toContain('the store fails')
      }, mostly)
      signal('SIGTERM')
      expect(await done).toBe(0)
      expect(err()).not.toContain('the store does not answer')
    } finally {
      await proxy.close()
      await redis.stop()
    }
  })

  it('warns of a store that is not there when it starts, and goes on', async () => {
    const { done, lines, signal, err } = await serve(
      `${rules}messaging.yaml`,
      '--store',
      'redis://:hush@127.0.0.1:1',
    )
    expect(err()).toMatch(
      /^sluice: the store does not answer: [^\n]*ECONNREFUSED[^\n]*\nUntil it does, on_store_error of each rule decides/m,
    )
    expect(err()).not.toContain('hush')
    expect(await post(lines[0]!)).toMatchObject({ allowed: true, degraded: true })
    signal('SIGTERM')
    expect(await done).toBe(0)
  })

  it('names the mistakes of a rulebook and exits 1, an address in use and exits 2', async () => {
    const wrong = fakeIo()
    expect(await main(['serve', `${rules}mistakes.yaml`], wrong.io)).toBe(1)
    expect(wrong.err()).toMatch(/mistakes\.yaml:5:5: /)
    const { done, lines, signal } = await serve(`${rules}messaging.yaml`)
    const taken = fakeIo()
    const { host } = new URL(lines[0]![1]!)
    expect(await main(['serve', `${rules}messaging.yaml`, '--http', host], taken.io)).toBe(2)
    expect(taken.err()).toBe(
      `sluice: --http: cannot listen at ${host}: another program listens there (EADDRINUSE); choose another address\n` +
        'See sluice serve --help.\n',
    )
    expect(taken.out()).not.toContain('stopping')
    const same = fakeIo()
    expect(await main(['serve', '--http', '[::1]:1', '--admin', '[::1]:1'], same.io)).toBe(2)
    expect(same.err()).toContain('--admin must be another address than http, [::1]:1')
    const variable = fakeIo('', { SLUICE_ADMIN: host })
    expect(await main(['serve', `${rules}messaging.yaml`, '--http', '127.0.0.1:0'], variable.io)).toBe(2)
    expect(variable.err()).toContain(`sluice: SLUICE_ADMIN: cannot listen at ${host}: another program`)
    for (const [option, value] of [
      ['--max-keys', '1e3'],
      ['--max-bytes', '200 apples'],
    ] as const) {
      const refused = fakeIo()
      expect(await main(['serve', `${rules}messaging.yaml`, option, value], refused.io)).toBe(2)
      expect(refused.err()).toContain(`${option} must be`)
    }
    signal('SIGTERM')
    expect(await done).toBe(0)
  })
})

const MODES = ['open', 'closed', 'local'] as const
/** docs/redis.md promises less than a second. */
const BACK = { timeout: 60_000, interval: 20 }

describe('the log of sluice serve', () => {
  const shown = async (argv: string[], env: Record<string, string>, isTTY?: boolean): Promise<string> => {
    const fake = fakeIo('', env)
    Object.assign(fake.io.stdout, { isTTY })
    const addresses = ['--http', '127.0.0.1:0', '--admin', '127.0.0.1:0']
    const done = main(['serve', ...addresses, `${rules}messaging.yaml`, ...argv], fake.io)
    await vi.waitFor(() => expect(fake.err()).toMatch(/\/v1\/rules\n/), 60_000)
    fake.signal('SIGINT')
    expect(await done).toBe(0)
    return fake.out()
  }
  const JSON_LINE = /^\{"level":30,.*"msg":"stopping: no request is in flight.*"\}$/m
  const ESCAPE = String.fromCharCode(27)

  it('has lines of JSON where nobody looks, and where they are asked for', async () => {
    expect(await shown([], {})).toMatch(JSON_LINE)
    expect(await shown(['--log-format', 'json'], {}, true)).toMatch(JSON_LINE)
    expect(await shown([], { SLUICE_LOG_FORMAT: 'json' }, true)).toMatch(JSON_LINE)
  })

  it('has lines for people on a terminal, in colour if that is not refused', async () => {
    const line = /^\[\d\d:\d\d:\d\d\] INFO: http listens at http:\/\/127\.0\.0\.1:\d+$/m
    const coloured = await shown([], {}, true)
    expect(coloured).toContain(`${ESCAPE}[32mINFO${ESCAPE}[39m`)
    expect(coloured).not.toContain('{')
    expect(await shown([], { NO_COLOR: '1' }, true)).toMatch(line)
    const asked = await shown(['--log-format', 'pretty'], {})
    expect(asked).toMatch(line)
    expect(asked).not.toContain(ESCAPE)
  })
})

describe('sluice serve on its way out', () => {
  /** A request of which the head has arrived, and the body does not. */
  const slowRequest = async (http: string): Promise<Socket> => {
    const { hostname, port } = new URL(http)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    await new Promise((resolve) => socket.once('connect', resolve))
    const head =
      'POST /v1/check HTTP/1.1\r\nHost: d\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n'
    socket.write(`${head}{`)
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 /)
    return socket
  }
  const hour = ['--drain-time', '1h', '--request-timeout', '1h', '--no-watch']

  it('says for how many requests it waits, and answers them', async () => {
    const { done, lines, signal, out } = await serve(`${rules}messaging.yaml`, ...hour)
    const socket = await slowRequest(lines[0]![1]!)
    signal('SIGINT')
    expect(out()).toContain(
      'stopping: waits for 1 request in flight, 3600 s at most; a second signal ends at once',
    )
    const answer = new Promise((resolve) => socket.once('data', (data) => resolve(String(data))))
    socket.write('"a": 12}')
    expect(await answer).toMatch(/^HTTP\/1\.1 400 .*\r\nconnection: close\r\n/is)
    expect(await done).toBe(0)
  })

  it('ends at the second signal, whatever is in flight, also where its store does not answer', async () => {
    const argv = [`${rules}messaging.yaml`, ...hour, '--store', 'redis://127.0.0.1:1']
    const { done, lines, signal } = await serve(...argv)
    const socket = await slowRequest(lines[0]![1]!)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    signal('SIGINT')
    signal('SIGINT')
    await closed
    expect(await done).toBe(0)
  })

  it('holds no answer back any more', { timeout: 50_000 }, async () => {
    const path = join(folder, 'held.yaml')
    writeFileSync(path, 'domain: d\nlimits: [{ name: n, key: [], limit: 1/day, tarpit: 1m }]\n')
    const { done, lines, signal } = await serve(path, ...hour)
    const [line] = lines
    expect(await post(line!)).toMatchObject({ allowed: true })
    const held = post(line!)
    const { origin } = new URL(lines.at(-1)![1]!)
    const refused = 'sluice_requests_total{domain="d",outcome="denied"} 1\n'
    await vi.waitFor(
      async () => expect(await (await fetch(`${origin}/metrics`)).text()).toContain(refused),
      60_000,
    )
    signal('SIGTERM')
    expect(await held).toMatchObject({ allowed: false })
    expect(await done).toBe(0)
  })
})

describe('sluice serve before a Redis', () => {
  const path = join(folder, 'failing.yaml')
  writeFileSync(
    path,
    `domain: d\nlimits:\n${MODES.map(
      (mode) =>
        `  - { name: ${mode}, when: { path: /${mode} }, key: [ip], limit: 1000000/365d, on_store_error: ${mode} }\n`,
    ).join('')}`,
  )
  let redis: FailingRedis
  let served: Served
  let http: string
  let admin: string
  /** Checks of each mode that were sent, and those that Redis has answered. */
  const sent = { open: 0, closed: 0, local: 0 }
  const exact = { open: 0, closed: 0, local: 0 }
  beforeAll(async () => {
    redis = await startFailingRedis()
    served = await serve(path, '--no-watch', '--store', `redis://127.0.0.1:${redis.proxy.port}`)
    http = served.lines[0]![1]!
    admin = new URL(served.lines.at(-1)![1]!).origin
  })
  afterAll(async () => {
    served.signal('SIGTERM')
    expect(await served.done).toBe(0)
    await redis.close()
  })

  const ask = async (mode: keyof typeof sent, url = http): Promise<Answer> => {
    const body = JSON.stringify({ domain: 'd', request: { path: `/${mode}`, ip: '192.0.2.1' } })
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(response.status).toBe(200)
    const answer = (await response.json()) as Answer
    if (url === http) {
      sent[mode]++
      if (!answer.degraded) exact[mode]++
    }
    return answer
  }
  const ready = async (): Promise<unknown> => (await fetch(`${admin}/readyz`)).json()
  const metric = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name} (.*)$`, 'm').exec(await (await fetch(`${admin}/metrics`)).text())![1])
  const isExact = async (): Promise<void> => {
    for (const mode of MODES) expect(await ask(mode)).toMatchObject({ allowed: true, degraded: false })
  }

  it.each(Object.entries(failures))(
    'OF-50, OF-51: that %s answers by the rules, says so everywhere, and is exact again within seconds',
    async (_kind, failure) => {
      const fine = { ready: true, reasons: [], warnings: [] }
      await vi.waitFor(async () => expect(await ready()).toEqual(fine), BACK)
      await vi.waitFor(isExact, BACK)
      const [before, logged] = [await metric('sluice_store_failures_total'), served.out().length]
      try {
        await failure.fail(redis)
        if (failure.passes !== true) {
          await vi.waitFor(async () => {
            await Promise.all(Array.from({ length: 10 }, () => ask('open')))
            expect(await metric('sluice_store_up')).toBe(0)
          }, BACK)
          for (const mode of MODES)
            expect(await ask(mode)).toMatchObject({ allowed: mode !== 'closed', degraded: true })
          expect(await ready()).toEqual({ ...fine, warnings: ['the store does not answer'] })
          expect(await metric('sluice_store_failures_total')).toBeGreaterThanOrEqual(before + 5)
          expect(served.out().slice(logged)).toContain('the store fails')
        }
      } finally {
        await failure.mend(redis)
      }
      await vi.waitFor(isExact, BACK)
      expect(await metric('sluice_store_up')).toBe(1)
      expect(served.out().slice(logged)).not.toContain('writeable')
      if (failure.forgets === true) exact.open = exact.closed = exact.local = 0
      for (const mode of MODES) {
        const { limit, remaining } = await vi.waitFor(async () => {
          const answer = await ask(mode, `${http}?peek`)
          expect(answer.degraded).toBe(false) // 50 ms may pass on any machine
          return answer
        }, BACK)
        expect(limit - remaining).toBeGreaterThanOrEqual(exact[mode])
        expect(limit - remaining).toBeLessThanOrEqual(sent[mode])
      }
    },
  )

  it.each(['hangs', 'is cut', 'is refused', 'is silent'])(
    'the log, the gauge and /readyz say the same at every moment while the connection %s, and when it is back',
    async (kind) => {
      const { proxy } = redis
      const logged = (): readonly string[] => served.out().match(/"the store (?:fails|works again)"/g) ?? []
      const differing: unknown[] = []
      const seen = { up: 0, down: 0 }
      /** Compares what all three say, unless the log said something new while they were read. */
      const look = async (asks: boolean): Promise<void> => {
        const before = logged()
        const said = [await Promise.all([metric('sluice_store_up'), ready()])]
        if (asks) await Promise.all(MODES.map((mode) => ask(mode)))
        said.push([await metric('sluice_store_up'), await ready()])
        if (logged().length !== before.length) return
        const fails = before.at(-1) === '"the store fails"'
        const warnings = fails ? ['the store does not answer'] : []
        const alike = [fails ? 0 : 1, { ready: true, reasons: [], warnings }]
        for (const each of said)
          if (JSON.stringify(each) !== JSON.stringify(alike)) differing.push({ each, alike })
        seen[fails ? 'down' : 'up']++
      }
      const lookUntil = (state: keyof typeof seen, asks: boolean): Promise<void> => {
        seen[state] = 0
        return vi.waitFor(async () => {
          await look(asks)
          expect(seen[state]).toBeGreaterThanOrEqual(3)
        }, BACK)
      }
      await lookUntil('up', true)
      proxy.cut() // a failure or two open no breaker
      await ask('open')
      await lookUntil('up', false)
      try {
        if (kind === 'hangs') proxy.hangs = true
        else if (kind === 'is cut') proxy.losesAnswers = true
        else if (kind === 'is refused') await proxy.refuse()
        else proxy.keepsAnswers = true
        await lookUntil('down', false)
        await lookUntil('down', true)
      } finally {
        if (kind === 'is refused') await proxy.listen()
        Object.assign(proxy, { hangs: false, losesAnswers: false, keepsAnswers: false })
      }
      await lookUntil('up', false)
      await lookUntil('up', true)
      expect(differing).toEqual([])
    },
  )

  it('the log, the gauge and /readyz say from the beginning that the store is not there', async () => {
    const other = await serve(path, '--no-watch', '--store', 'redis://127.0.0.1:1')
    try {
      expect(other.out()).toContain('"the store fails"')
      const { origin } = new URL(other.lines.at(-1)![1]!)
      expect(await (await fetch(`${origin}/metrics`)).text()).toContain('\nsluice_store_up 0\n')
      const warnings = ['the store does not answer']
      expect(await (await fetch(`${origin}/readyz`)).json()).toMatchObject({ warnings })
    } finally {
      other.signal('SIGTERM')
      expect(await other.done).toBe(0)
    }
  })

  it('OF-51: names the reason why it is not let in, and the address, without the password', async () => {
    const { admin: direct, server } = redis
    const other = await serve(path, '--no-watch', '--store', `redis://:hush@127.0.0.1:${server.port}/3`)
    try {
      await direct.config('SET', 'requirepass', 'another')
      await direct.call('CLIENT', 'KILL', 'TYPE', 'normal')
      const url = other.lines[0]![1]!
      await vi.waitFor(async () => {
        await ask('open', url)
        expect(other.out()).toMatch(/"reason":"Redis failed: redis:\/\/127\.0\.0\.1:\d+\/3: WRONGPASS /)
      }, BACK)
      await direct.config('SET', 'requirepass', 'hush')
      await vi.waitFor(async () => expect(await ask('open', url)).toMatchObject({ degraded: false }), BACK)
      expect(other.out() + other.err()).not.toMatch(/hush|writeable/)
    } finally {
      await direct.config('SET', 'requirepass', '')
      other.signal('SIGTERM')
      expect(await other.done).toBe(0)
    }
  })
})
