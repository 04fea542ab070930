import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a server, and does what networks do. */
export interface TcpProxy {
  readonly port: number
  /** Milliseconds by which each answer is held back. */
  delayMs: number
  /** Cuts each connection at its next request, once the server has answered, and keeps the answer to itself. */
  losesAnswers: boolean
  /** Cuts the next connection that has passed on so many bytes of requests, in the middle of one. */
  cutAfterBytes: number
  /** Answers that were lost. */
  readonly lost: number
  close(): Promise<void>
}

export async function startProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const proxy = { port: 0, delayMs: 0, losesAnswers: false, cutAfterBytes: Number.POSITIVE_INFINITY, lost: 0 }
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const cut = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', cut)
      socket.on('close', () => {
        sockets.delete(socket)
        cut()
      })
    }
    let passed = 0
    client.on('data', (data) => {
      const room = proxy.cutAfterBytes - passed
      passed += data.length
      if (data.length <= room) return void upstream.write(data)
      proxy.cutAfterBytes = Number.POSITIVE_INFINITY
      client.destroy()
      upstream.end(data.subarray(0, room))
    })
    upstream.on('data', (data) => {
      if (proxy.losesAnswers) {
        proxy.lost++
        cut()
      } else if (proxy.delayMs === 0) client.write(data)
      else setTimeout(() => client.write(data), proxy.delayMs)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  proxy.port = (server.address() as AddressInfo).port
  return Object.assign(proxy, {
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}
