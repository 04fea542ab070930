import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { adapterSuite, served } from '@sluice/conformance'
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { rateLimit } from './node.ts'

adapterSuite({ describe, it }, 'node:http', {
  header: ([request], name) => (request as IncomingMessage).headers[name] as string | undefined,
  info: ([request]) => (request as IncomingMessage).rateLimit,
  listen(options, application) {
    const limits = options.map((each) => rateLimit(each))
    return served(async (request, response: ServerResponse) => {
      try {
        for (const limit of limits) if (!(await limit(request, response))) return
        const { status = 200, body = '' } = await application({ path: request.url!, info: request.rateLimit })
        response.writeHead(status).end(body)
      } catch {
        response.writeHead(500).end()
      }
    })
  },
})

it('limits the streams of an HTTP/2 connection, and gives back what failed', async () => {
  const limit = rateLimit({
    limit: 1,
    period: '1m',
    name: 'test',
    store: new MemoryStore({ clock: new FakeClock() }),
    skipFailedRequests: true,
  })
  const server = createServer(async (request, response) => {
    const [asIncoming, asServed] = [request, response] as unknown as [IncomingMessage, ServerResponse]
    if (await limit(asIncoming, asServed))
      response.writeHead(request.url === '/fail' ? 500 : 200).end(asIncoming.rateLimit?.key ?? '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const ask = async (path: string) => {
    const stream = session.request({ ':path': path })
    const [headers] = await once(stream, 'response')
    let body = ''
    for await (const chunk of stream.setEncoding('utf8')) body += chunk
    return [headers[':status'], headers.ratelimit, body]
  }
  expect(await ask('/fail')).toEqual([500, '"default";r=0;t=60', '127.0.0.1'])
  expect(await ask('/')).toEqual([200, '"default";r=0;t=60', '127.0.0.1'])
  expect((await ask('/')).slice(0, 2)).toEqual([429, '"default";r=0;t=60'])
  session.destroy()
  await new Promise((closed) => server.close(closed))
})
