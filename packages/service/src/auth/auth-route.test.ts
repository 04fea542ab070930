import { METHODS } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { createService } from '../service.ts'
import { bench, GatedStore, type ServiceBench } from '../testing.ts'
import type { AuthOptions } from './auth-options.ts'

const EDGE = `
domain: edge
limits:
  - name: login
    when: { method: POST, path: /login, host: shop.example }
    key: [ip]
    limit: 5/minute
    algorithm: sliding-window-log
  - name: everyone
    key: [ip]
    limit: 200/minute
    algorithm: fixed-window
`
const PROXY = '127.0.0.1'
const trusting: AuthOptions = { trusted: [PROXY] }

let service: ServiceBench
let lines: string[] = []
afterEach(() => service?.close())

async function start(auth: AuthOptions = trusting, rules = EDGE): Promise<void> {
  lines = []
  service = await bench(rules, {
    auth,
    log: { level: 'warn', stream: { write: (line) => void lines.push(line) } },
  })
}

const LOGIN = {
  'x-forwarded-method': 'POST',
  'x-forwarded-uri': '/login?next=/',
  'x-forwarded-host': 'shop.example:8443',
  'x-forwarded-for': '203.0.113.9',
}

type Headers = Readonly<Record<string, string>>

async function ask(url = '/auth', headers: Headers = LOGIN, method = 'GET', peer = PROXY) {
  const answer = await service.http.inject({ method: method as 'GET', url, headers, remoteAddress: peer })
  return { status: answer.statusCode, headers: answer.headers, body: answer.body }
}

async function statuses(count: number, ...args: Parameters<typeof ask>): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < count; i++) found.push((await ask(...args)).status)
  return found
}

const FIVE = [200, 200, 200, 200, 200]

describe('an admission', () => {
  test('is 200 without a body, with all limit headers, and is not stored', async () => {
    await start()
    const { status, headers, body } = await ask()
    expect([status, body]).toEqual([200, ''])
    expect(headers).toMatchObject({
      'ratelimit-policy': '"login";q=5;w=60, "everyone";q=200;w=60',
      ratelimit: '"login";r=4;t=60, "everyone";r=199;t=60',
      'cache-control': 'no-store',
      'content-length': '0',
    })
    expect(headers).not.toHaveProperty('sluice-status')
  })

  test('carries what the next hop is to see', async () => {
    const rules = 'domain: d\nlimits: [{ name: n, key: [], limit: 1/hour, on_limit: deprioritize }]\n'
    await start(trusting, rules)
    await ask()
    expect((await ask()).headers).toMatchObject({ 'sluice-priority': 'low' })
  })
})

describe('a refusal', () => {
  test('is 429 with Retry-After, limit headers and a problem', async () => {
    await start()
    await statuses(5)
    const { status, headers, body } = await ask()
    expect(status).toBe(429)
    expect(headers).toMatchObject({
      'retry-after': '60',
      ratelimit: expect.stringContaining('"login";r=0;t=60'),
      'cache-control': 'no-store',
      'content-type': expect.stringMatching(/^application\/problem\+json/),
      'sluice-status': '429',
    })
    expect(JSON.parse(body)).toMatchObject({ status: 429, 'violated-policies': ['login'] })
  })

  test('is 403 where the path or the options say so, with the same figures', async () => {
    await start({ ...trusting, deny: 403 })
    await statuses(5)
    const by = { option: await ask(), path: await ask('/auth:deny=403'), other: await ask('/auth:deny=429') }
    expect([by.option.status, by.path.status, by.other.status]).toEqual([403, 403, 429])
    expect(by.path.headers).toMatchObject({ 'sluice-status': '429', 'retry-after': '60' })
    expect(by.path.headers).toEqual(by.option.headers)
  })

  test('settings are never read from the query, which may be the client’s', async () => {
    await start()
    await statuses(5)
    expect(await statuses(1, '/auth?deny=403&domain=other&limit=9')).toEqual([429])
  })
})

describe('the original request', () => {
  test.each([
    ['X-Forwarded-*, as Caddy and Traefik send it', '/auth', LOGIN, 'GET'],
    [
      'X-Original-*, as nginx is often set to',
      '/auth',
      { 'x-original-method': 'POST', 'x-original-uri': '/login', host: 'shop.example' },
      'GET',
    ],
    [
      'X-Original-URL, as ingress controllers send it',
      '/auth',
      { 'x-original-method': 'POST', 'x-original-url': 'https://shop.example/login?x=1' },
      'GET',
    ],
    ['the path, as Envoy sends it', '/auth/login?x=1', { host: 'shop.example:80' }, 'POST'],
    ['the path, spelt another way', '/auth//%6cogin/./', { host: 'SHOP.example' }, 'POST'],
  ])('is in %s', async (_name, url, headers, method) => {
    await start()
    expect((await ask(url, headers as unknown as Headers, method)).headers.ratelimit).toContain('"login";r=4')
  })

  test('in the path goes before headers, which a client may have sent', async () => {
    await start()
    const headers = {
      'x-forwarded-uri': '/cheap',
      'x-forwarded-method': 'GET',
      'x-forwarded-host': 'a.example',
    }
    const answer = await ask('/auth/login', { ...headers, host: 'shop.example' }, 'POST')
    expect(answer.headers.ratelimit).toContain('"login";r=4')
  })

  test('has any method that Node can read', async () => {
    await start()
    const methods = METHODS.filter((method) => method !== 'CONNECT')
    for (const method of methods) expect(await statuses(1, '/auth/a', {}, method)).toEqual([200])
    for (const method of ['PURGE', 'NOTE', 'a-b'])
      expect(await statuses(1, '/auth', { ...LOGIN, 'x-forwarded-method': method })).toEqual([200])
  })

  test.each([
    ['host', { 'x-forwarded-host': 'a.example, b.example' }],
    ['method', { 'x-forwarded-method': 'POST, GET' }],
  ])('with two of %s cannot be decided, and is refused', async (_name, more) => {
    await start()
    const { status, headers, body } = await ask('/auth', { ...LOGIN, ...more })
    expect([status, headers['sluice-status'], JSON.parse(body).status]).toEqual([400, '400', 400])
    expect((await ask('/auth:deny=403', { ...LOGIN, ...more })).status).toBe(403)
  })

  test('may have headers that would be wrong on a question of the API', async () => {
    await start()
    const odd = { 'content-encoding': 'gzip', 'content-type': 'text/xml; charset=latin1', origin: 'null' }
    expect(await statuses(1, '/auth', { ...LOGIN, ...odd })).toEqual([200])
  })
})

describe('the domain', () => {
  const TWO = `${EDGE}---\ndomain: other\nlimits: [{ name: o, key: [], limit: 9/hour }]\n`
  const start2 = async (auth: AuthOptions): Promise<void> => {
    await start(auth)
    await service.folder.write('other.yaml', TWO.split('---\n')[1]!)
    await service.rules.reload()
  }

  test('is the only one, or that of the options, or that of the path', async () => {
    await start2(trusting)
    const several = await ask()
    expect([several.status, JSON.parse(several.body).detail]).toEqual([
      400,
      'the rules have several domains: name one in the path, such as /auth:domain=shop',
    ])
    expect((await ask('/auth:domain=edge')).headers.ratelimit).toContain('"login"')
    await service.close()
    await start2({ ...trusting, domain: 'other' })
    expect((await ask()).headers.ratelimit).toContain('"o"')
    expect((await ask('/auth:domain=edge')).headers.ratelimit).toContain('"login"')
    expect((await ask('/auth:domain=none')).status).toBe(404)
  })
})

describe('the client’s address', () => {
  test('FB-061: 100 forged addresses left of the proxy’s own share one counter', async () => {
    await start()
    const codes: number[] = []
    for (let i = 0; i < 100; i++) {
      const headers = { ...LOGIN, 'x-forwarded-for': `198.51.100.${i}, 203.0.113.9` }
      codes.push((await ask('/auth', headers)).status)
    }
    expect(codes.filter((code) => code === 200)).toHaveLength(5)
  })

  test('FB-061, acceptance 2.2: the header of a peer outside the trusted is ignored, and warned of once', async () => {
    await start()
    const codes: number[] = []
    for (let i = 0; i < 20; i++) {
      const headers = { ...LOGIN, 'x-forwarded-for': `198.51.100.${i}` }
      codes.push((await ask('/auth/login', { ...headers, host: 'shop.example' }, 'POST', '192.0.2.8')).status)
    }
    expect(codes).toEqual([...FIVE, ...Array(15).fill(429)])
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('192.0.2.8')
    expect(lines[0]).toContain('--trusted')
  })

  test('a stranger’s other headers are ignored too, and no rule sees them', async () => {
    const rules = 'domain: d\nlimits: [{ name: n, key: ["header:x-forwarded-proto"], limit: 1/hour }]\n'
    await start(trusting, rules)
    const headers = { ...LOGIN, 'x-forwarded-proto': 'https' }
    expect((await ask('/auth', headers, 'GET', '192.0.2.8')).headers).not.toHaveProperty('ratelimit')
    expect((await ask('/auth', headers)).headers.ratelimit).toContain('"n";r=0')
  })

  test('FB-059: all addresses of a /64 share one counter', async () => {
    await start()
    const codes: number[] = []
    for (let i = 0; i < 8; i++) {
      const headers = { ...LOGIN, 'x-forwarded-for': `2001:db8:1:2::${i.toString(16)}` }
      codes.push((await ask('/auth', headers)).status)
    }
    expect(codes).toEqual([...FIVE, 429, 429, 429])
  })

  test('a proxy that says nothing of client or path is warned of, once each', async () => {
    await start()
    await statuses(3, '/auth', {})
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      '/auth: 127.0.0.1 sends no X-Forwarded-Uri, so every path counts as /',
      '/auth: 127.0.0.1 sends no X-Forwarded-For, so all clients count as that one address',
    ])
  })
})

describe('an answer in time', () => {
  const RULES = (mode: string): string =>
    `domain: d\nlimits: [{ name: n, key: [ip], limit: 5/hour, on_store_error: ${mode} }]\n`

  test.each([
    ['open', 200],
    ['closed', 503],
    ['local', 200],
  ])('a store that hangs for longer than the proxy waits: %s', async (mode, status) => {
    const store = new GatedStore()
    service = await bench(RULES(mode), {
      auth: { ...trusting, deadline: 1 },
      store,
      fallback: { deadlineMs: 60_000 },
      denyCache: false,
    })
    store.shut()
    const answers = await Promise.all([ask(), ask(), ask('/auth:deny=429')])
    expect(answers.map((answer) => answer.status)).toEqual([status, status, status === 200 ? 200 : 429])
    if (status !== 200)
      expect(answers[2]!.headers).toMatchObject({ 'sluice-status': '503', 'retry-after': expect.any(String) })
    store.open()
    expect((await ask('/auth', { ...LOGIN, 'x-forwarded-for': '203.0.113.10' })).status).toBe(200)
  })

  test('a refusal is not held back, since a proxy that waits too long lets the request pass', async () => {
    await start()
    await service.close()
    service = await bench(EDGE, {
      auth: trusting,
      tarpit: '1m',
      timers: { setTimeout: () => expect.unreachable('/auth waits'), clearTimeout: () => undefined },
    })
    await statuses(5)
    expect(await statuses(1)).toEqual([429])
  })
})

test('options of /auth are checked', async () => {
  const made = (auth: object) => () => createService({ rules: ['x'], auth })
  expect(made({ trusted: ['10.0.0.0/33'] })).toThrow(/auth\.trusted/)
  expect(made({ deny: 404 })).toThrow('auth.deny must be 403 or 429, not 404')
  expect(made({ deadline: '2m' })).toThrow('auth.deadline must be above 0 to 1m, not "2m"')
  expect(made({ deadline: 0 })).toThrow('auth.deadline')
  expect(made({ trust: [] })).toThrow('did you mean trusted?')
})
