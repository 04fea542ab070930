import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import type { Bounds } from './bounds.ts'
import type {} from './in-flight.ts'
import { bench, GatedStore, type ServiceBench } from './testing.ts'

const RULES = 'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: hour, requests_per_unit: 9 } }]\n'
let service: ServiceBench
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await service.close()
})

async function listening(bounds: Partial<Bounds>): Promise<string> {
  service = await bench(RULES, { bounds })
  return service.http.listen({ host: '127.0.0.1', port: 0 })
}

/** A connection that has asked, and reads nothing. */
async function asking(path: string, length: number, body = '', more = ''): Promise<Socket> {
  const { port } = service.http.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').pause()
  sockets.push(socket)
  await once(socket, 'connect')
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: s\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n${body}`,
  )
  return socket
}

async function statusOf(socket: Socket): Promise<string> {
  const [first] = await once(socket.setEncoding('utf8').resume(), 'data')
  return first
}

const check = async (url: string): Promise<Response> =>
  fetch(`${url}/v1/check`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ domain: 'd', descriptors: [{ entries: [{ key: 'k', value: 'v' }] }] }),
  })

test('OF-44: at the bound of bytes in flight a request is refused, and batches leave room for others', async () => {
  const url = await listening({ maxBodyBytes: 1_000, maxBatchBytes: 4_000, maxBytesInFlight: 8_000 })
  const holding = await asking('/v1/check/batch', 4_000)
  await vi.waitFor(async () => {
    const refused = await statusOf(await asking('/v1/check/batch', 4_000))
    expect(refused).toMatch(/^HTTP\/1.1 503 /)
    expect(refused.toLowerCase()).toContain('\r\nretry-after: 1\r\n')
    expect(refused).toContain('application/problem+json')
  }, 60_000)
  expect((await check(url)).status).toBe(200)
  for (let held = 2; held <= 5; held++) {
    await asking('/v1/check', 1_000)
    await vi.waitFor(() => expect(service.http.inFlight.requests).toBe(held), 60_000)
  }
  await vi.waitFor(async () => expect((await check(url)).status).toBe(503), 60_000)
  holding.destroy()
  await vi.waitFor(async () => expect((await check(url)).status).toBe(200), 60_000)
})

test('OF-44: a batch is decided as fast as it is read, and cut when nobody reads it', async () => {
  const url = await listening({ requestTimeoutMs: 1_000, maxEntries: 128 })
  const descriptors = Array.from({ length: 50 }, (_, i) => ({ entries: [{ key: 'k', value: `${i}` }] }))
  const body = JSON.stringify(Array(1_000).fill({ domain: 'd', descriptors }))
  const decide = vi.spyOn(service.store, 'decide')
  const unread = [
    await asking('/v1/check/batch', body.length, body),
    await asking('/v1/check/batch', body.length, body),
  ]
  const closed = Promise.all(unread.map((socket) => once(socket, 'close')))
  await vi.waitFor(() => expect(decide.mock.calls.length).toBeGreaterThan(0), 60_000)
  expect((await check(url)).status).toBe(200)
  // A connection that is paused does not see its end: what has arrived is read to there.
  await vi.waitFor(async () => expect(await connections()).toBeLessThanOrEqual(1), 60_000)
  expect(decide.mock.calls.length).toBeLessThan(2_000)
  for (const socket of unread) socket.on('error', () => undefined).resume()
  await closed
})

// The second is not plain: it goes to Fastify.
test.each(['', 'Content-Encoding: identity\r\nExpect: 100-continue\r\n'])(
  'a client that goes while its body is read, or while it is decided, leaves nothing in flight: %j',
  async (more) => {
    const store = new GatedStore()
    service = await bench(RULES, { store, fallback: { deadlineMs: 60_000 } })
    await service.http.listen({ host: '127.0.0.1', port: 0 })
    const { inFlight } = service.http
    const decide = vi.spyOn(store.memory, 'decide')
    store.shut()
    const body = JSON.stringify({ domain: 'd', descriptors: [{ entries: [{ key: 'k', value: 'v' }] }] })
    for (const sent of ['', body.slice(1), body]) {
      const socket = await asking('/v1/check', body.length, sent, more)
      await vi.waitFor(() => expect(inFlight.requests).toBe(1), 60_000)
      await vi.waitFor(() => expect(store.waiting).toBe(sent === body ? 1 : 0), 60_000)
      socket.destroy()
      await vi.waitFor(() => expect(inFlight.requests).toBe(0), 60_000)
    }
    store.open()
    await vi.waitFor(() => expect(decide).toHaveBeenCalledTimes(1), 60_000)
    await new Promise(setImmediate)
    expect(inFlight.bytes).toBe(0)
  },
)

test('a request behind one that ends the connection leaves nothing in flight', async () => {
  await listening({})
  const { inFlight } = service.http
  const enter = vi.spyOn(inFlight, 'enter')
  const head = 'POST /v1/check HTTP/1.1\r\nHost: s\r\nContent-Type: application/json\r\nContent-Length: 9'
  const socket = await asking('/v1/check', 1, `{${head}\r\n\r\n`)
  await once(socket.resume(), 'close')
  await vi.waitFor(() => expect(enter).toHaveBeenCalledTimes(2), 60_000)
  await vi.waitFor(() => expect([inFlight.requests, inFlight.bytes]).toEqual([0, 0]), 60_000)
})

function connections(): Promise<number> {
  return new Promise((resolve, reject) => {
    service.http.server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}
