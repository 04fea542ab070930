import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { served } from '@sluice/conformance'
import { rateLimit as forExpress } from '@sluice/limiter/adapters/express'
import { rateLimit as forFastify } from '@sluice/limiter/adapters/fastify'
import { rateLimit as forHono } from '@sluice/limiter/adapters/hono'
import { rateLimit as forKoa } from '@sluice/limiter/adapters/koa'
import { rateLimit as forNode } from '@sluice/limiter/adapters/node'
import { MemoryStore } from '@sluice/limiter/stores/memory'
import express from 'express'
// @ts-expect-error Types of version 4 would be another @types/express.
import express4 from 'express4'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { Registry } from 'prom-client'
import { afterEach, describe, expect, test } from 'vitest'
import { createInstruments, type Instruments } from '../instruments.ts'
import { type Dashboard, dashboard } from './dashboard.ts'

const TOKEN = 'the-token-of-the-app'
const BRINGS = { authorization: `Bearer ${TOKEN}` }
const JSON_TYPE = { 'content-type': 'application/json' }

interface App {
  readonly instruments: Instruments
  readonly store: MemoryStore
  readonly registry: Registry
}
interface Listens {
  readonly port: number
  close(): unknown
}
/** How an app limits its requests by the header `user`, and has the dashboard at `/ops/sluice`. */
interface Host {
  /** The dashboard's option. */
  readonly path?: string
  listen(app: App, page: Dashboard): Promise<Listens>
}

const options = ({ instruments, store }: App) =>
  ({
    name: 'web',
    policies: { daily: { limit: 4, period: '1d', block: { after: 1_000, within: '1m', for: '1m' } } },
    key: 'header:user',
    store,
    observe: instruments.observe,
  }) as const

function overExpress(server: express.Express, app: App, page: Dashboard): Promise<Listens> {
  server.use('/ops/sluice', page)
  server.get('/metrics', async (_, response) => void response.send(await app.registry.metrics()))
  server.use(forExpress({ ...options(app), key: ({ headers }) => headers.user as string }))
  server.use((_, response) => void response.send('hello'))
  return served(server)
}

const HOSTS: Readonly<Record<string, Host>> = {
  'Express 5': { listen: (app, page) => overExpress(express(), app, page) },
  'Express 4, whose parser has read the body': {
    listen: (app, page) => overExpress(express4().use(express.json()), app, page),
  },
  'node:http': {
    path: '/ops/sluice',
    listen(app, page) {
      const limit = forNode({
        ...options(app),
        key: (request: IncomingMessage) => request.headers.user as string,
      })
      const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
        if (request.url === '/metrics') response.end(await app.registry.metrics())
        else if (await limit(request, response)) response.end('hello')
      }
      return served((request, response) => page(request, response, () => void answer(request, response)))
    },
  },
  Koa: {
    path: '/ops/sluice',
    listen(app, page) {
      const server = new Koa()
      server.use((ctx, next) => {
        if (!/^\/ops\/sluice(?:\/|$)/.test(ctx.path)) return next()
        ctx.respond = false
        page(ctx.req, ctx.res)
      })
      server.use(async (ctx, next) => {
        if (ctx.path !== '/metrics') return next()
        ctx.body = await app.registry.metrics()
      })
      server.use(forKoa({ ...options(app), key: (ctx) => ctx.get('user') }))
      server.use((ctx) => {
        ctx.body = 'hello'
      })
      return served(server.callback())
    },
  },
  Fastify: {
    path: '/ops/sluice',
    async listen(app, page) {
      const server = fastify({ forceCloseConnections: true })
      server.addHook('onRequest', (request, reply, done) => void page(request.raw, reply.raw, done))
      server.get('/metrics', () => app.registry.metrics())
      await server.register(async (limited) => {
        await limited.register(forFastify, {
          ...options(app),
          key: (request) => request.headers.user as string,
        })
        limited.get('/*', async () => 'hello')
      })
      const url = await server.listen({ host: '127.0.0.1', port: 0 })
      return {
        port: Number(new URL(url).port),
        close: () => server.close(),
      }
    },
  },
  Hono: {
    path: '/ops/sluice',
    listen(app, page) {
      const server = new Hono()
      server.all('/ops/sluice/*', (c) => page.fetch(c.req.raw))
      server.get('/metrics', async (c) => c.text(await app.registry.metrics()))
      server.use(forHono({ ...options(app), key: (c) => c.req.header('user') }))
      server.all('/*', (c) => c.text('hello'))
      return served(getRequestListener(server.fetch))
    },
  },
}

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function open(host: Host, more: Partial<Parameters<typeof dashboard>[1]> = {}) {
  const registry = new Registry()
  const store = new MemoryStore()
  const instruments = createInstruments({ registry, store })
  const { path } = host
  const page = dashboard(instruments, { token: TOKEN, ...(path !== undefined && { path }), ...more })
  const server = await host.listen({ instruments, store, registry }, page)
  opened.push(() => server.close(), page.close)
  const base = `http://127.0.0.1:${server.port}`
  return { base, page: `${base}/ops/sluice`, close: page.close }
}

const post = (
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { ...BRINGS, ...JSON_TYPE, ...headers } })
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const bodyOf = async (response: Promise<Response> | Response): Promise<any> => (await response).json()

/** What a stream sends until an event satisfies. */
async function until(url: string, found: (event: string, data: string) => boolean): Promise<void> {
  const response = await fetch(url, { headers: { ...BRINGS, accept: 'text/event-stream' } })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  let text = ''
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part
    const events = [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)]
    if (events.some(([, event, data]) => found(event!, data!))) return
  }
  throw new Error(`the stream ended: ${text}`)
}

describe.each(Object.entries(HOSTS))('instruments and dashboard in %s', (_, host) => {
  test('acceptance 6.9: what is scraped is what was decided, under load', async () => {
    const { base } = await open(host)
    const statuses: number[] = []
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        for (let n = 0; n < 15; n++) {
          const response = await fetch(`${base}/page`, { headers: { user: `user-${i % 10}` } })
          await response.arrayBuffer()
          statuses.push(response.status)
        }
      }),
    )
    const counted = (status: number): number => statuses.filter((each) => each === status).length
    expect([counted(200), counted(429)]).toEqual([40, 260])
    const text = await (await fetch(`${base}/metrics`)).text()
    for (const line of [
      'sluice_requests_total{domain="web",outcome="allowed"} 40',
      'sluice_requests_total{domain="web",outcome="denied"} 260',
      'sluice_policy_decisions_total{domain="web",policy="daily",outcome="allowed"} 40',
      'sluice_policy_decisions_total{domain="web",policy="daily",outcome="limited"} 260',
      'sluice_policy_burst_exhausted_total{domain="web",policy="daily"} 10',
      'sluice_decision_duration_seconds_count{layer="app"} 300',
      'sluice_store_keys 20', // with those that count refusals for the block
    ])
      expect(text).toContain(`${line}\n`)
  })

  test('the page and its calls are below the place where it is mounted', async () => {
    const { base, page } = await open(host)
    const bare = await fetch(page, { redirect: 'manual' })
    expect([bare.status, bare.headers.get('location')]).toEqual([302, './sluice/'])
    const html = await fetch(page)
    expect([html.url, html.status]).toEqual([`${page}/`, 200])
    expect(html.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'/)
    for (const [, file] of (await html.text()).matchAll(/(?:src|href)="([^"]+)"/g)) {
      const response = await fetch(new URL(file!, html.url))
      expect([file, response.status, response.headers.get('x-content-type-options')]).toEqual([
        file,
        200,
        'nosniff',
      ])
    }
    for (let i = 0; i < 6; i++) await fetch(`${base}/page`, { headers: { user: 'ada' } })
    expect(await bodyOf(fetch(`${page}/v1/rules`, { headers: BRINGS }))).toMatchObject({
      domains: [
        { name: 'web', limits: [{ name: 'daily', limit: { limit: 4, period: '1d' }, mode: 'enforce' }] },
      ],
      error: null,
    })
    const offenders = await bodyOf(fetch(`${page}/v1/offenders?top=1`, { headers: BRINGS }))
    expect(offenders.lists[0].denied.keys).toEqual([{ key: 'ada', atLeast: 2, atMost: 2 }])
    await until(
      `${page}/v1/live`,
      (event, data) => event === 'second' && JSON.parse(data).totals.denied === 2,
    )
    await until(`${page}/v1/offenders`, (event, data) => event === 'offenders' && /"ada"/.test(data))
    expect((await fetch(`${base}/page`, { headers: { user: 'bob' } })).status).toBe(200)
  })

  test('a key is looked up, reset, blocked and unblocked with the token, and not without', async () => {
    const { base, page } = await open(host)
    const ask = async (): Promise<number> =>
      (await fetch(`${base}/page`, { headers: { user: 'ada' } })).status
    for (let i = 0; i < 5; i++) await ask()
    const ada = { domain: 'web', policy: 'daily', key: 'ada' }
    const look = () => bodyOf(fetch(`${page}/v1/key?${new URLSearchParams(ada)}`, { headers: BRINGS }))
    expect((await look()).figures).toMatchObject([
      { allowed: false, remaining: 0, limit: 4, blockable: true },
    ])
    expect(await bodyOf(post(`${page}/v1/reset`, ada))).toEqual({ reset: ['daily'] })
    expect(await ask()).toBe(200)
    expect(await bodyOf(post(`${page}/v1/block`, { ...ada, duration: '1h' }))).toMatchObject({
      blocked: 'daily',
    })
    expect(await ask()).toBe(429)
    expect(await bodyOf(post(`${page}/v1/unblock`, ada))).toEqual({ unblocked: 'daily' })
    expect(await ask()).toBe(200)
    for (const path of ['reset', 'block', 'unblock'])
      expect((await post(`${page}/v1/${path}`, ada, { authorization: 'Bearer wrong' })).status).toBe(401)
    const without = await fetch(`${page}/v1/live`)
    expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect((await look()).figures).toMatchObject([{ remaining: 2 }])
  })

  test('pages from elsewhere can neither write nor read', async () => {
    const { page } = await open(host)
    const ada = { domain: 'web', policy: 'daily', key: 'ada' }
    expect((await post(`${page}/v1/reset`, ada, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post(`${page}/v1/reset`, ada, { 'content-type': 'text/plain' })).status).toBe(415)
    const own = { origin: new URL(page).origin }
    expect((await post(`${page}/v1/reset`, ada, own)).status).toBe(404)
    const rules = await fetch(`${page}/v1/rules`, { headers: BRINGS })
    expect(rules.headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(rules.headers.get('access-control-allow-origin')).toBeNull()
  })

  test.each([
    ['GET', '/v1/nothing', undefined, 404, /nothing at \/v1\/nothing/],
    ['DELETE', '/v1/block', {}, 405, /takes POST/],
    ['POST', '/v1/live', {}, 405, /takes GET/],
    ['POST', '/v1/reset', { domain: 'web' }, 400, /policy must be text/],
    ['GET', '/v1/offenders?window=2h', undefined, 400, /window must be 5m or 1d/],
    ['GET', '/v1/offenders?top=1&top=2', undefined, 400, /top is given twice/],
    ['GET', '/v1/key?domain=web&policy=none&key=', undefined, 404, /no policy "none" has decided/],
  ])('%s %s is answered with %j %i', async (method, path, body, status, detail) => {
    const { page } = await open(host)
    const response = await fetch(`${page}${path}`, {
      method,
      headers: { ...BRINGS, ...JSON_TYPE },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const problem = await bodyOf(response)
    expect([response.status, problem.detail]).toEqual([status, expect.stringMatching(detail)])
  })

  test('closing it ends the streams of open pages', async () => {
    const { page, close } = await open(host)
    const response = await fetch(`${page}/v1/live`, { headers: BRINGS })
    close()
    expect(await response.text()).toContain('event: history')
    expect((await fetch(`${page}/v1/live`, { headers: BRINGS })).status).toBe(503)
  })
})

test.each(['node:http', 'Hono'])('a body that is too long is not read, in %s', async (name) => {
  const { page } = await open(HOSTS[name]!)
  expect((await post(`${page}/v1/reset`, { key: 'x'.repeat(3_000_000) })).status).toBe(413)
})

test('without a token it is read only, and under names of this machine alone', async () => {
  const { page } = await open(HOSTS['node:http']!, { token: false })
  expect((await fetch(`${page}/v1/rules`)).status).toBe(200)
  const ada = { domain: 'web', policy: 'daily', key: 'ada' }
  expect((await post(`${page}/v1/reset`, ada)).status).toBe(403)
  expect((await fetch(`${page}/v1/key?${new URLSearchParams(ada)}`)).status).toBe(403)
})
