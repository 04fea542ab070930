import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLimiter } from '@sluice/limiter'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { Agent, request, fetch as undiciFetch } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../../limiter/src/free-port.test-support.ts'
import { outboundAdapter } from '../axios.ts'
import { outboundInterceptor } from '../undici.ts'
import { createOutbound, type Outbound, outbound } from './outbound.ts'
import { modelTokens } from './usage.ts'

let server: Server
let url: string
let arrivals: { readonly at: number; readonly path: string }[] = []

beforeAll(async () => {
  server = createServer((incoming, response) => {
    arrivals.push({ at: performance.now(), path: incoming.url! })
    if (incoming.url === '/refused') response.writeHead(429, { 'retry-after': '1' }).end()
    else if (incoming.url === '/chat')
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"usage":{"total_tokens":42}}')
    else response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  arrivals = []
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

/** Ways to make a call, each with the limits of one `Outbound`. @returns its status */
const TRANSPORTS: Readonly<
  Record<string, (limits: Outbound) => (path: string, body?: string) => Promise<number>>
> = {
  fetch: (limits) => {
    const limited = outbound(fetch, limits)
    return async (path, body) => {
      const answer = await limited(url + path, body === undefined ? {} : { method: 'POST', body })
      await answer.text()
      return answer.status
    }
  },
  undici: (limits) => {
    const dispatcher = new Agent().compose(outboundInterceptor(limits) as never)
    return async (path, body) => {
      const { statusCode, body: answer } = await request(url + path, {
        dispatcher,
        method: body === undefined ? 'GET' : 'POST',
        ...(body !== undefined && { body }),
      })
      await answer.text()
      return statusCode
    }
  },
  'fetch of undici': (limits) => {
    const dispatcher = new Agent().compose(outboundInterceptor(limits) as never)
    return async (path, body) => {
      const answer = await undiciFetch(url + path, {
        dispatcher,
        method: body === undefined ? 'GET' : 'POST',
        ...(body !== undefined && { body }),
      })
      await answer.text()
      return answer.status
    }
  },
  axios: (limits) => {
    const client = axios.create({
      adapter: outboundAdapter(axios.getAdapter('http') as never, limits) as never,
      validateStatus: () => true,
    })
    return async (path, data) =>
      (await client.request({ url: url + path, method: data === undefined ? 'GET' : 'POST', data })).status
  },
  ky: (limits) => {
    const client = ky.create({
      fetch: outbound(fetch, limits) as typeof fetch,
      retry: 0,
      throwHttpErrors: false,
    })
    return async (path, body) => {
      const answer = await client(url + path, body === undefined ? {} : { method: 'POST', body })
      await answer.text()
      return answer.status
    }
  },
  got: (limits) => {
    const client = got.extend({
      retry: { limit: 0 },
      throwHttpErrors: false,
      handlers: [
        (options, next) =>
          limits.run(
            async ({ answered, used }) => {
              const answer = (await next(options)) as {
                statusCode: number
                headers: Record<string, string>
                body: string
              }
              answered({ status: answer.statusCode, headers: answer.headers })
              used(answer.body)
              return answer
            },
            { url: options.url as URL, method: options.method, body: options.body },
          ) as never,
      ],
    })
    return async (path, body) =>
      (await (body === undefined ? client.get(url + path) : client.post(url + path, { body }))).statusCode
  },
}

const limitsOf = (limit: number, extra: object = {}) => {
  const limiter = createLimiter({
    policies: {
      calls: { algorithm: 'fixed-window', limit, period: '365d' },
      tokens: { algorithm: 'fixed-window', limit: 10_000, period: '365d' },
    },
  })
  return { limiter, limits: createOutbound({ destinations: [{ limiter, ...extra }], maxWaitMs: 5_000 }) }
}

describe.each(Object.entries(TRANSPORTS))('Acceptance 4.11: %s', (_, callWith) => {
  it('is limited, and refused before anything is sent', async () => {
    const call = callWith(limitsOf(2, { onLimit: 'reject' }).limits)
    expect(await Promise.all([call('/'), call('/')])).toEqual([200, 200])
    const error = await call('/').catch((reason) => reason)
    expect([error.name, error.code, error.cause?.name]).toContain('BudgetExceeded')
    expect(arrivals).toHaveLength(2)
  })

  it('waits as an answer asks for', async () => {
    const call = callWith(limitsOf(10).limits)
    expect(await call('/refused')).toBe(429)
    expect(await call('/')).toBe(200)
    expect(arrivals[1]!.at - arrivals[0]!.at).toBeGreaterThanOrEqual(990) // the answer came a little later
  })

  it('settles what the answer says that it used', async () => {
    const { limiter, limits } = limitsOf(10, modelTokens({ policy: 'tokens' }))
    await callWith(limits)('/chat', '{"max_tokens":500}')
    expect(limiter.peek(new URL(url).host, { cost: 0 }).policies[1]!.remaining).toBe(10_000 - 42)
  })

  it('gives back what never reached a server', async () => {
    const { limiter, limits } = limitsOf(10)
    const before = url
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    await callWith(limits)('/').catch(() => undefined)
    url = before
    expect(limiter.peek(`127.0.0.1:${port}`, { cost: 0 }).policies[0]!.remaining).toBe(10)
  })
})
