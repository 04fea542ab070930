import { adapterSuite, type Listening, served } from '@sluice/conformance'
import express, { type Request, type Response } from 'express'
// @ts-expect-error Types of version 4 would be another @types/express.
import express4 from 'express4'
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { type ExpressOptions, rateLimit } from './express.ts'

const versions: Record<string, typeof express> = { 'Express 5': express, 'Express 4': express4 }

for (const [name, make] of Object.entries(versions)) {
  adapterSuite({ describe, it }, name, {
    header: ([request], header) => (request as Request).get(header),
    info: ([request]) => (request as Request).rateLimit,
    refusing: (look) => ({
      handler: (request: Request, response: Response) => {
        look([request, response])
        response.status(429).send('refused')
      },
    }),
    listen(options, application) {
      const app = make()
      for (const each of options) app.use(rateLimit(each))
      app.use(async (request, response) => {
        const { status = 200, body = '' } = await application({ path: request.path, info: request.rateLimit })
        response.status(status).send(body)
      })
      return served(app)
    },
  })

  describe(name, () => {
    const limit = (more?: Partial<ExpressOptions>) =>
      rateLimit({
        limit: 2,
        period: '1m',
        name: 'test',
        store: new MemoryStore({ clock: new FakeClock() }),
        ...more,
      })

    it('T47: one limiter on several routes limits them together, and counts a request once', async () => {
      const shared = limit()
      const app = make()
      app.use('/a', shared, shared, (_, response) => void response.send('a'))
      app.use('/b', shared, (_, response) => void response.send('b'))
      await against(app, async (get) => {
        expect([await get('/a'), await get('/b'), await get('/a')].map(({ status }) => status)).toEqual([
          200, 200, 429,
        ])
      })
    })

    it('passes what the application throws in a function on to its error handler', async () => {
      const app = make()
      app.use(limit({ limit: () => Number.NaN }))
      app.use((error: Error, _request: Request, response: Response, _next: unknown) => {
        response.status(500).send(error.message)
      })
      await against(app, async (get) => {
        expect(await get('/')).toEqual({
          status: 500,
          body: 'limit must be a whole number from 0 to 2^53−1, not NaN',
        })
      })
    })

    it('lets the application answer refusals, which may also let the request pass', async () => {
      const app = make()
      app.use(
        limit({
          limit: 0,
          handler: (request, response, next, info) =>
            request.query.pass ? next() : response.status(418).send(info.key),
        }),
      )
      app.use((request, response) => void response.send(`passed ${request.rateLimit?.remaining}`))
      await against(app, async (get) => {
        expect(await get('/')).toEqual({ status: 418, body: '127.0.0.1' })
        expect(await get('/?pass=1')).toEqual({ status: 200, body: 'passed 0' })
      })
    })

    it('leaves an answer alone that is out already', async () => {
      const app = make()
      app.use(
        (_, response, next) => {
          response.send('early')
          next()
        },
        limit({ limit: 0 }),
      )
      await against(app, async (get) => expect(await get('/')).toEqual({ status: 200, body: 'early' }))
    })

    it('looks a key up, and resets it', async () => {
      const limiter = limit()
      const app = make()
      app.use(limiter, (_, response) => void response.send())
      await against(app, async (get) => {
        await get('/')
        expect(await limiter.getKey('127.0.0.1')).toMatchObject({ limit: 2, used: 1, remaining: 1 })
        await limiter.resetKey('127.0.0.1')
        expect(await limiter.getKey('127.0.0.1')).toMatchObject({ used: 0, remaining: 2 })
      })
    })

    it('puts the figures where it is told to', async () => {
      const app = make()
      app.use(limit({ requestPropertyName: 'quota' }), (request, response) => {
        response.send(`${(request as unknown as { quota: { remaining: number } }).quota.remaining}`)
      })
      await against(app, async (get) => expect((await get('/')).body).toBe('1'))
    })
  })
}

type Get = (path: string) => Promise<{ status: number; body: string }>

async function against(app: ReturnType<typeof express>, body: (get: Get) => Promise<unknown>): Promise<void> {
  const server: Listening = await served(app)
  try {
    await body(async (path) => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`)
      return { status: response.status, body: await response.text() }
    })
  } finally {
    await server.close()
  }
}
