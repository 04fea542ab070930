import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, DecoratorHandler, type Dispatcher, interceptors, fetch as undiciFetch } from 'undici'
import { afterEach, expect, it } from 'vitest'
import { type FetchFunction, retrying } from './retrying.ts'

let server: Server
afterEach(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))

/** A server whose answers may be stored for a minute. */
async function start(statusOf: (calls: number) => number): Promise<{ url: string; calls: () => number }> {
  let calls = 0
  server = createServer((_, response) => {
    response.writeHead(statusOf(++calls), { 'Cache-Control': 'max-age=60', 'Retry-After': '0' }).end('x')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, calls: () => calls }
}

interface ResponseHandler {
  onResponseStart(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void
}
// Its types lack the methods of handlers.
const Decorator = DecoratorHandler as unknown as new (handler: Dispatcher.DispatchHandler) => ResponseHandler

/** undici's cache stores a 429 that has a max-age, which RFC 6585 forbids: in front of it such an answer has none. */
class RefusalsStayOut extends Decorator {
  override onResponseStart(...args: Parameters<ResponseHandler['onResponseStart']>): void {
    const [controller, status, headers, message] = args
    const kept = status === 429 ? { ...headers, 'cache-control': 'no-store' } : headers
    super.onResponseStart(controller, status, kept, message)
  }
}

/** As docs/retries.md has it. */
function cachingFetch(): FetchFunction {
  const dispatcher = new Agent().compose(
    (dispatch) => (options, handler) => dispatch(options, new RefusalsStayOut(handler)),
    interceptors.cache(),
  )
  return retrying((input, init) => undiciFetch(input as string, { ...(init as object), dispatcher }) as never)
}

it('Acceptance 4.10: an answer that may be stored is asked for once', async () => {
  const { url, calls } = await start(() => 200)
  const fetch = cachingFetch()
  for (let i = 0; i < 5; i++) expect(await (await fetch(url)).text()).toBe('x')
  expect(calls()).toBe(1)
})

it('Acceptance 4.10: a 429 is never stored', async () => {
  const { url, calls } = await start((count) => (count <= 2 ? 429 : 200))
  const fetch = cachingFetch()
  expect((await fetch(url)).status).toBe(200)
  expect((await fetch(url)).status).toBe(200)
  expect(calls()).toBe(3)
})
