import { adapterSuite, served } from '@sluice/conformance'
import Koa, { type Context } from 'koa'
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { type KoaOptions, rateLimit } from './koa.ts'

adapterSuite({ describe, it }, 'Koa', {
  header: ([ctx], name) => (ctx as Context).get(name) || undefined,
  info: ([ctx]) => (ctx as Context).state.rateLimit,
  refusing: (look) => ({
    handler: (ctx: Context) => {
      look([ctx])
      ctx.status = 429
    },
  }),
  listen(options, application) {
    const app = new Koa()
    app.silent = true
    for (const each of options) app.use(rateLimit(each))
    app.use(async (ctx) => {
      const { status = 200, body = '' } = await application({ path: ctx.path, info: ctx.state.rateLimit })
      ctx.status = status
      ctx.body = body
    })
    return served(app.callback())
  },
})

describe('Koa', () => {
  async function ask(
    middleware: readonly Koa.Middleware[],
    ...paths: string[]
  ): Promise<[number, string, string | null][]> {
    const app = new Koa()
    app.silent = true
    for (const each of middleware) app.use(each)
    const server = await served(app.callback())
    const replies: [number, string, string | null][] = []
    for (const path of paths) {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`)
      replies.push([response.status, await response.text(), response.headers.get('ratelimit')])
    }
    await server.close()
    return replies
  }
  const limit = (more?: Partial<KoaOptions>) =>
    rateLimit({
      limit: 1,
      period: '1m',
      name: 'test',
      store: new MemoryStore({ clock: new FakeClock() }),
      ...more,
    })
  const hello: Koa.Middleware = (ctx) => {
    ctx.body = `hello ${ctx.state.rateLimit?.remaining}`
  }

  it('passes failures of the application on, with the headers on them', async () => {
    const fails: Koa.Middleware = (ctx) => ctx.throw(404, 'nothing here')
    expect(await ask([limit(), fails], '/')).toEqual([[404, 'nothing here', '"default";r=0;t=60']])
  })

  it('lets the application answer refusals', async () => {
    const handler: KoaOptions['handler'] = (ctx, next, info) => {
      if (ctx.query.pass) return next()
      ctx.status = 418
      ctx.body = info.key
    }
    expect(await ask([limit({ limit: 0, handler }), hello], '/', '/?pass=1')).toEqual([
      [418, '127.0.0.1', '"default";r=0'],
      [200, 'hello 0', '"default";r=0'],
    ])
  })

  it('looks a key up, and resets it', async () => {
    const limiter = limit()
    await ask([limiter, limiter, hello], '/')
    expect((await limiter.getKey('127.0.0.1')).remaining).toBe(0)
    await limiter.resetKey('127.0.0.1')
    expect((await limiter.getKey('127.0.0.1')).remaining).toBe(1)
  })
})
