import type { IncomingMessage } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { adapterSuite, served } from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import type { RateLimitInfo } from './fetch.ts'
import { rateLimit } from './fetch.ts'

interface Env {
  readonly incoming: IncomingMessage
}

adapterSuite({ describe, it }, 'fetch', {
  header: ([request], name) => (request as Request).headers.get(name) ?? undefined,
  info: ([request]) => (request as { rateLimit?: RateLimitInfo }).rateLimit,
  listen(options, application) {
    const limits = options.map((each) =>
      rateLimit<[Env]>({ address: (_, { incoming }) => incoming.socket.remoteAddress, ...each }),
    )
    return served(
      getRequestListener(async (request, env) => {
        const passages: Awaited<ReturnType<(typeof limits)[number]>>[] = []
        let info: RateLimitInfo | undefined
        for (const limit of limits) {
          const passage = await limit(request, env as Env)
          if (passage.response !== undefined) return passage.response
          passages.push(passage)
          info = passage.info
        }
        const { status = 200, body = '' } = await application({ path: new URL(request.url).pathname, info })
        return passages.reduceRight(
          (response, { finish }) => finish(response),
          new Response(body, { status }),
        )
      }),
    )
  },
})

describe('fetch', () => {
  const options = { period: '1m', name: 'test', key: () => 'k' } as const
  const store = () => new MemoryStore({ clock: new FakeClock() })
  const request = (method = 'GET') => new Request('http://h/', { method })

  it('wraps a handler, which sees only what may pass, and all that the platform writer over', async () => {
    const seen: string[] = []
    const limited = rateLimit<[string]>({ ...options, limit: 1, store: store() }).wrap((_, env) => {
      seen.push(env)
      return Response.redirect('http://h/there', 302)
    })
    const passed = await limited(request(), 'env')
    expect([passed.status, passed.headers.get('location'), passed.headers.get('ratelimit')]).toEqual([
      302,
      'http://h/there',
      '"default";r=0;t=60',
    ])
    expect((await limited(request(), 'env')).status).toBe(429)
    expect(seen).toEqual(['env'])
  })

  it('asks who sends requests, since they do not tell', () => {
    expect(() => rateLimit({ limit: 1, period: '1m' })).toThrow('give address or key')
  })

  it('ends a lease when the response has been read, given up, or never is to be read', async () => {
    const limit = rateLimit({ ...options, limit: 1, algorithm: 'concurrency', store: store() })
    const streamed = async (method?: string) => {
      const { response, finish } = await limit(request(method))
      return response ?? finish(new Response(new Blob(['a', 'b']).stream()))
    }
    const busy = async () => (await limit(request())).response?.status === 429

    const read = await streamed()
    expect(await busy()).toBe(true)
    expect(await read.text()).toBe('ab')
    const givenUp = await streamed()
    expect(await busy()).toBe(true)
    await givenUp.body!.cancel()
    await streamed('HEAD')
    expect((await limit(request())).response).toBeUndefined()
  })
})
