import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { MemoryStore } from '../stores/memory.ts'
import { FakeClock } from '../testing.ts'
import { rateLimit, type WebSocketOptions } from './websocket.ts'

/** An echo behind a limit; the body gets a client that is connected to it. */
async function echoing(options: WebSocketOptions, body: (client: WebSocket) => Promise<void>): Promise<void> {
  const limit = rateLimit({ name: 'test', store: new MemoryStore({ clock: new FakeClock() }), ...options })
  const server = createServer().listen(0, '127.0.0.1')
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, request) => limit(socket, request, (data) => socket.send(`${data}`)))
  await once(server, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    headers: { 'x-user': 'ada' },
  })
  await once(client, 'open')
  try {
    await body(client)
  } finally {
    client.terminate()
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
    await new Promise((closed) => server.close(closed))
  }
}

/** All that comes back of these messages, until the socket closes or `last` has come. */
async function said(client: WebSocket, messages: readonly string[], last?: string): Promise<string[]> {
  const back: string[] = []
  const over = new Promise<void>((resolve) => {
    client.on('message', (data) => {
      back.push(`${data}`)
      if (`${data}` === last) resolve()
    })
    client.on('close', (code, reason) => {
      back.push(`${code} ${reason}`)
      resolve()
    })
  })
  for (const message of messages) client.send(message)
  await over
  return back
}

describe('WebSockets', () => {
  it('lets the limit in, in order, and closes with 1008 when there are more', () =>
    echoing({ limit: 2, period: '1m' }, async (client) => {
      expect(await said(client, ['a', 'b', 'c', 'd'])).toEqual([
        'a',
        'b',
        '1008 rate limit: retry after 60 s',
      ])
    }))

  for (const [name, more, figures] of [
    ['allowed', {}, { limit: 2, remaining: 1 }],
    ['shadow', { shadow: true }, { limit: Number.POSITIVE_INFINITY, policy: '' }],
    ['skipped', { skip: () => true }, { limit: Number.POSITIVE_INFINITY, policy: '' }],
    ['exempt', { allowList: ['127.0.0.1'] }, { limit: Number.POSITIVE_INFINITY, policy: '' }],
  ] as const) {
    it(`OF-31: gives the listener the figures of its message: ${name}`, async () => {
      const limit = rateLimit({ limit: 2, period: '1m', ...more })
      const socket = Object.assign(new EventEmitter(), { OPEN: 1, readyState: 1 })
      const request = { headers: {}, socket: { remoteAddress: '127.0.0.1' } }
      const heard = new Promise((resolve) =>
        limit(socket as never, request as never, (_data, _isBinary, info) => resolve(info)),
      )
      socket.emit('message', 'a', false)
      expect(await heard).toMatchObject({ ...figures, priority: 'normal', resetTime: expect.any(Date) })
    })
  }

  it('drops what is over the limit, where that is said', () =>
    echoing(
      { limit: 3, period: '1m', cost: (_socket, _request, data) => `${data}`.length, onRefused: 'drop' },
      async (client) => {
        expect(await said(client, ['aa', 'bb', 'c'], 'c')).toEqual(['aa', 'c'])
      },
    ))

  it('lets the application say what to do, and whose messages they are', () =>
    echoing(
      {
        limit: 1,
        period: '1m',
        key: (_, request) => request.headers['x-user'] as string,
        onRefused: (socket, info) => socket.send(`enough, ${info?.key}`),
      },
      async (client) => {
        expect(await said(client, ['a', 'b'], 'enough, ada')).toEqual(['a', 'enough, ada'])
      },
    ))

  it('closes with 1011 when a function fails', () =>
    echoing({ limit: () => Number.NaN, period: '1m', logger: { warn() {}, error() {} } }, async (client) => {
      expect(await said(client, ['a'])).toEqual(['1011 '])
    }))

  it('closes with 1013 while the store is away, where that is said', () =>
    echoing(
      {
        limit: 1,
        period: '1m',
        store: Object.assign(new MemoryStore(), {
          async: true,
          decide: () => Promise.reject(new Error('gone')),
        }) as never,
        onStoreError: 'closed',
        logger: { warn() {}, error() {} },
      },
      async (client) => {
        expect((await said(client, ['a']))[0]).toMatch(/^1013 /)
      },
    ))
})
