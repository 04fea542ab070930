import { getRequestListener } from '@hono/node-server'
import { adapterSuite, served } from '@sluice/conformance'
import { type Context, Hono } from 'hono'
import { stream } from 'hono/streaming'
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { type HonoOptions, rateLimit } from './hono.ts'

adapterSuite({ describe, it }, 'Hono', {
  header: ([c], name) => (c as Context).req.header(name),
  info: ([c]) => (c as Context).get('rateLimit'),
  refusing: (look) => ({
    handler: (c: Context) => {
      look([c])
      return c.text('refused', 429)
    },
  }),
  listen(options, application) {
    const app = new Hono()
    for (const each of options) app.use(rateLimit(each))
    app.all('/*', async (c) => {
      const { status = 200, body = '' } = await application({ path: c.req.path, info: c.get('rateLimit') })
      return c.text(body, status as 200)
    })
    app.onError((_, c) => c.text('failed', 500))
    return served(getRequestListener(app.fetch))
  },
})

describe('Hono', () => {
  const options = (more?: Partial<HonoOptions>): HonoOptions => ({
    limit: 2,
    period: '1m',
    name: 'test',
    store: new MemoryStore({ clock: new FakeClock() }),
    address: () => '192.0.2.1',
    ...more,
  })

  function ofEveryMake(): Hono {
    const app = new Hono()
    app.use(rateLimit(options({ limit: 9 })))
    app.get('/text', (c) => c.text('text'))
    app.get('/raw', () => new Response('raw'))
    app.get('/away', () => Response.redirect('http://h/', 302))
    app.get('/stream', (c) => stream(c, async (own) => void (await own.write('stream'))))
    app.get('/fails', () => {
      throw new Error('of the application')
    })
    app.onError((_, c) => c.text('failed', 500))
    return app
  }
  const paths = ['/text', '/raw', '/away', '/stream', '/fails', '/none']
  const left = paths.map((_, i) => `"default";r=${8 - i};t=60`)

  it('puts its headers on responses of every make', async () => {
    const app = ofEveryMake()
    const told: (string | null)[] = []
    for (const path of paths) told.push((await app.request(path)).headers.get('ratelimit'))
    expect(told).toEqual(left)
  })

  it('puts them on what Node sends, beside the application’s own', async () => {
    const app = ofEveryMake()
    app.get('/own', (c) => {
      c.header('Set-Cookie', 'a=1')
      c.header('Set-Cookie', 'b=2', { append: true })
      c.header('RateLimit', 'own')
      return c.text('own')
    })
    const { port, close } = await served(getRequestListener(app.fetch))
    try {
      const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' })
      const told: (string | null)[] = []
      for (const path of paths) told.push((await ask(path)).headers.get('ratelimit'))
      expect(told).toEqual(left)
      const { headers } = await ask('/own')
      expect([headers.getSetCookie(), headers.get('ratelimit'), headers.get('content-length')]).toEqual([
        ['a=1', 'b=2'],
        'own',
        '3',
      ])
    } finally {
      await close()
    }
  })

  it('T47: one limiter on several routes limits them together', async () => {
    const limit = rateLimit(options())
    const app = new Hono()
    app.use('/a/*', limit)
    app.get('/a/x', limit, (c) => c.text('x'))
    app.get('/b', limit, (c) => c.text('b'))
    const statuses = []
    for (const path of ['/a/x', '/b', '/a/x']) statuses.push((await app.request(path)).status)
    expect(statuses).toEqual([200, 200, 429])
    expect((await limit.getKey('192.0.2.1')).remaining).toBe(0)
    await limit.resetKey('192.0.2.1')
    expect((await app.request('/b')).status).toBe(200)
  })

  it('lets the application answer refusals', async () => {
    const app = new Hono()
    app.use(rateLimit(options({ limit: 0, handler: (c, _, info) => c.text(`limit ${info.limit}`, 418) })))
    const response = await app.request('/')
    expect([response.status, await response.text(), response.headers.get('ratelimit-policy')]).toEqual([
      418,
      'limit 0',
      '"default";q=0;w=60',
    ])
  })

  it('finds the socket’s address where Node, Bun and Deno put it', async () => {
    const app = new Hono()
    const { address: _, ...bySocket } = options({ limit: 9 })
    app.use(rateLimit(bySocket))
    app.get('/', (c) => c.text(c.get('rateLimit').key ?? ''))
    const bun = { address: '192.0.2.3', requestIP: () => ({ address: '192.0.2.2' }) }
    for (const [env, key] of [
      [{ incoming: { socket: { remoteAddress: '192.0.2.1' } } }, '192.0.2.1'],
      [{ server: bun }, '192.0.2.2'],
      [{ remoteAddr: { hostname: '192.0.2.4' } }, '192.0.2.4'],
    ] as const) {
      expect(await (await app.request('/', {}, env)).text()).toBe(key)
    }
    app.onError((error, c) => c.text(error.message, 500))
    expect(await (await app.request('/')).text()).toMatch('neither a key nor a client address')
  })
})
