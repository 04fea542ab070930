import { Controller, type ExecutionContext, Get, HttpException } from '@nestjs/common'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { type Application, adapterSuite } from '@sluice/conformance'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { describe, expect, it } from 'vitest'
import { decorate, EXCEPT, everything, listen, standing } from './nest/nest.test-support.ts'
import { RateLimitModule, SkipThrottle, Throttle } from './nest.ts'

adapterSuite({ describe, it }, 'Nest over Fastify', {
  header: ([context], name) =>
    (context as ExecutionContext).switchToHttp().getRequest<FastifyRequest>().headers[name] as string,
  info: ([context]) => (context as ExecutionContext).switchToHttp().getRequest().rateLimit,
  refusing: (look) => ({
    exception: (context: ExecutionContext) => {
      look([context])
      return new HttpException('refused', 429)
    },
  }),
  listen(options, application) {
    const controller = everything('*', (request: FastifyRequest, reply: FastifyReply) =>
      answer(application, request, reply),
    )
    return listen({
      imports: options.map((each) => RateLimitModule.forRoot(each)),
      controllers: [controller],
      platform: new FastifyAdapter(),
    })
  },
  except: EXCEPT,
})

async function answer(application: Application, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const path = request.url.split('?')[0]!
  const { status = 200, body = '' } = await application({ path, info: request.rateLimit })
  reply.status(status).send(body)
}

describe('Nest over Fastify', () => {
  it('tells of refusals in headers and a body, each handler as it asks', async () => {
    class Routes {
      plain(): string {
        return 'plain'
      }
      strict(): string {
        return 'strict'
      }
      free(): string {
        return 'free'
      }
    }
    Controller()(Routes)
    decorate(Routes, 'plain', Get('plain'))
    decorate(Routes, 'strict', Get('strict'), Throttle({ limit: 1 }))
    decorate(Routes, 'free', Get('free'), SkipThrottle())
    const server = await listen({
      imports: [RateLimitModule.forRoot({ limit: 9, period: '1m', ...standing() })],
      controllers: [Routes],
      platform: new FastifyAdapter(),
    })
    const get = (path: string) => fetch(`http://127.0.0.1:${server.port}/${path}`)
    expect((await get('plain')).headers.get('ratelimit')).toBe('"default";r=8;t=60')
    expect((await get('strict')).status).toBe(200)
    const refused = await get('strict')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await refused.json()).toMatchObject({ title: 'Quota Exceeded', status: 429 })
    const free = await get('free')
    expect([free.status, free.headers.get('ratelimit')]).toEqual([200, null])
    await server.close()
  })
})
