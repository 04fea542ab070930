import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import { createService } from '../service.ts'
import type { ServiceOptions } from '../service-options.ts'
import { bench, post, rulesFolder, type ServiceBench } from '../testing.ts'
import type { PostedOffender } from './new-offenders.ts'
import type { WebhookOptions } from './webhook-options.ts'

const RULES = `
domain: shop
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 1/day }
  - { name: all, key: [ip], limit: 3/day }
`
const EVERY = 60_000
const TIMEOUT = 7_777
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Timers that go off when a test says so. */
function handTimers() {
  const waiting = new Map<number, { go: () => void; ms: number }>()
  let last = 0
  return {
    setTimeout(go: () => void, ms: number) {
      waiting.set(++last, { go, ms })
      return last
    },
    clearTimeout: (id: never) => void waiting.delete(id),
    /** Those between two posts; while one is on its way there is none. */
    pauses: () => [...waiting.values()].map(({ ms }) => ms).filter((ms) => ms !== TIMEOUT),
    go() {
      const [[id, { go }] = expect.unreachable()] = waiting
      waiting.delete(id)
      go()
    },
  }
}

interface Receiver {
  readonly url: string
  /** Bodies and headers that came. */
  readonly posts: {
    readonly offenders: readonly PostedOffender[]
    readonly headers: IncomingMessage['headers']
  }[]
  answer(response: ServerResponse): void
}

async function receiver(): Promise<Receiver> {
  const posts: Receiver['posts'] = []
  const own: Receiver = { url: '', posts, answer: (response) => void response.writeHead(204).end() }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    posts.push({ ...JSON.parse(text), headers: request.headers })
    own.answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  return Object.assign(own, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` })
}

async function start(webhook: WebhookOptions, more: Omit<Partial<ServiceOptions>, 'rules'> = {}) {
  const timers = handTimers()
  const lines: string[] = []
  const stream = new Writable({ write: (chunk, _, done) => done(void lines.push(String(chunk))) })
  const node: ServiceBench = await bench(RULES, {
    offendersWebhook: { timeoutMs: TIMEOUT, ...webhook },
    timers,
    log: { stream, refusals: 'off' },
    ...more,
  })
  node.webhook!.start()
  closing.push(
    () => node.webhook!.stop(),
    () => node.close(),
  )
  const login = async (times: number, ip = '203.0.113.7', path = '/login'): Promise<void> => {
    for (let i = 0; i < times; i++)
      await post(node.http, '/v1/check', { domain: 'shop', request: { method: 'POST', path, ip } })
  }
  return { node, timers, lines, login }
}

const soon = <T>(shown: () => T) => expect.poll(shown, { interval: 20 })

describe('the webhook', () => {
  test('acceptance 6.5: posts offenders with policy, key, counts and routes; again only those that grew', async () => {
    const hook = await receiver()
    const { timers, login, node } = await start({ url: hook.url, secret: 'the secret of the receiver' })
    expect(timers.pauses()).toEqual([EVERY])
    await login(3)
    await login(3, '203.0.113.8', '/users/12345')
    timers.go()
    await soon(() => hook.posts.length).toBe(1)
    const [{ offenders, headers } = expect.unreachable()] = hook.posts
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer the secret of the receiver',
    })
    expect(offenders).toEqual([
      {
        domain: 'shop',
        policy: 'login',
        key: '203.0.113.7',
        denied: 2,
        atMost: 2,
        since: expect.any(Number),
        routes: [{ route: 'POST /login', atLeast: 2 }],
      },
    ])
    await soon(timers.pauses).toEqual([EVERY])
    timers.go()
    await soon(timers.pauses).toEqual([EVERY]) // nothing is new
    await login(2, '203.0.113.8', '/users/99999')
    await login(1)
    timers.go()
    await soon(() => hook.posts.length).toBe(2)
    expect(hook.posts[1]!.offenders.map(({ policy, key, denied }) => [policy, key, denied])).toEqual([
      ['login', '203.0.113.7', 3],
      ['all', '203.0.113.8', 2],
    ])
    await soon(timers.pauses).toEqual([EVERY])
    const metrics = (await node.admin.inject({ url: '/metrics', headers: { host: 'localhost' } })).body
    expect(metrics).toContain('sluice_offender_posts_total{result="done"} 2\n')
  })

  test('posts at most so many, those first that are refused most, and the others next', async () => {
    const hook = await receiver()
    const { timers, login } = await start({ url: hook.url, most: 2 })
    for (let i = 1; i <= 5; i++) await login(1 + i, `203.0.113.${i}`)
    for (const posts of [1, 2]) {
      timers.go()
      await soon(() => hook.posts.length).toBe(posts)
      await soon(timers.pauses).toEqual([EVERY])
    }
    const keys = hook.posts.map(({ offenders }) => offenders.map(({ key }) => key))
    expect(keys).toEqual([
      ['203.0.113.5', '203.0.113.4'],
      ['203.0.113.3', '203.0.113.2'],
    ])
  })

  test('shows keys hashed where the lists do', async () => {
    const hook = await receiver()
    const { timers, login, node } = await start(
      { url: hook.url },
      { offenderKeys: 'hashed', secret: 'a secret' },
    )
    await login(2)
    timers.go()
    await soon(() => hook.posts.length).toBe(1)
    const { body } = await node.admin.inject({ url: '/v1/offenders', headers: { host: 'localhost' } })
    const [{ key } = expect.unreachable()] = hook.posts[0]!.offenders
    expect(key).toMatch(/^%h[\da-f]{32}$/)
    expect(body).toContain(key)
  })

  test('tries again after a pause that grows, with what is true then, and says so once', async () => {
    const hook = await receiver()
    hook.answer = (response) => void response.writeHead(503).end('no')
    const { timers, login, lines } = await start({ url: hook.url })
    await login(2)
    timers.go()
    const pauses: number[] = []
    for (let tries = 1; tries <= 12; tries++) {
      await soon(() => hook.posts.length).toBe(tries)
      await soon(() => timers.pauses().length).toBe(1)
      pauses.push(timers.pauses()[0]!)
      if (tries === 11) hook.answer = (response) => void response.writeHead(204).end()
      timers.go()
    }
    for (const [i, pause] of pauses.slice(0, 11).entries()) {
      const longest = Math.min(1_000 * 2 ** (i + 1), 300_000)
      expect([i, pause >= longest / 2 && pause <= longest]).toEqual([i, true])
    }
    expect(pauses[11]).toBe(EVERY)
    expect(lines.filter((line) => line.includes('offenders cannot be posted')).length).toBe(1)
    expect(lines.filter((line) => line.includes('takes offenders again')).length).toBe(1)
    expect(lines.join('')).not.toContain('203.0.113.7')
  })

  test('waits as long as the receiver asks for, but not longer than five minutes', async () => {
    const hook = await receiver()
    const { timers, login } = await start({ url: hook.url })
    await login(2)
    for (const [asked, waited] of [
      ['90', 90_000],
      ['9999999', 300_000],
    ] as const) {
      hook.answer = (response) => void response.writeHead(429, { 'retry-after': asked }).end()
      timers.go()
      await soon(() => timers.pauses()).toEqual([waited])
    }
  })

  test('takes a redirect for a failure, so that neither keys nor the secret go elsewhere', async () => {
    const [hook, other] = [await receiver(), await receiver()]
    hook.answer = (response) => void response.writeHead(307, { location: other.url }).end()
    const { timers, login, lines } = await start({ url: hook.url, secret: 'a secret' })
    await login(2)
    timers.go()
    await soon(() => lines.join('')).toContain('it answers 307')
    expect(other.posts).toEqual([])
  })

  test('gives up a receiver that does not answer in time, while requests are decided', async () => {
    const hook = await receiver()
    hook.answer = () => undefined
    const { timers, login, lines } = await start({ url: hook.url })
    await login(2)
    timers.go()
    await soon(() => hook.posts.length).toBe(1)
    expect(timers.pauses()).toEqual([])
    await login(50)
    expect(hook.posts.length).toBe(1)
    timers.go()
    await soon(() => lines.join('')).toContain('it does not answer in time')
  })

  test('does not keep a service that stops, whatever the receiver does', async () => {
    const hook = await receiver()
    hook.answer = () => undefined
    const folder = await rulesFolder({ 'rules.yaml': RULES })
    const service = createService({
      rules: [folder.path],
      http: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      idleMs: 0,
      log: { level: 'silent' },
      offendersWebhook: { url: hook.url, everyMs: 1_000 },
    })
    closing.push(folder.remove)
    const { http } = await service.start()
    for (let i = 0; i < 3; i++)
      await fetch(`${http}/v1/check`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ domain: 'shop', request: { path: '/login', ip: '192.0.2.1' } }),
      })
    await soon(() => hook.posts.length).toBe(1)
    await service.stop()
  })
})

describe('a URL of a webhook', () => {
  const make = (url: string) => () =>
    createService({ rules: [], log: { level: 'silent' }, offendersWebhook: { url } })

  test.each([
    'https://hooks.example.com/sluice',
    'http://127.0.0.1:9000/',
    'http://[::1]:9000/',
    'http://localhost/',
  ])('%s is one', (url) => {
    expect(make(url)).not.toThrow()
  })

  test.each([
    [
      'http://hooks.example.com/',
      /offendersWebhook.url.*must be an https: URL, or an http: URL of this machine/,
    ],
    ['http://127.0.0.1.example.com/', /must be an https: URL/],
    ['ftp://127.0.0.1/', /must be an https: URL/],
    ['hooks', /must be an https: URL/],
    ['https://ada:secret@hooks.example.com/', /must have no user and password/],
  ])('%s is none', (url, message) => {
    expect(make(url)).toThrow(message)
  })
})
