import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between a program and its store, and fails as networks and servers do. */
export interface Relay {
  /** On the loopback interface. */
  readonly port: number
  /** Connections so far. */
  readonly accepted: number
  /** Milliseconds by which each answer is held back. */
  delayMs: number
  /** Passes on nothing until `resume`, which passes on what came meanwhile. Connections stay open, and are accepted. */
  hang(): void
  resume(): void
  /** The connections of now pass on nothing from now on, and stay open; new ones work. */
  halfOpen(): void
  /** Ends all connections by RST. */
  reset(): void
  /** Ends all connections, and refuses new ones until `accept`. */
  refuse(): Promise<void>
  accept(): Promise<void>
  close(): Promise<void>
}

/** @param target where the store listens */
export async function startRelay(target: { readonly host: string; readonly port: number }): Promise<Relay> {
  const sockets = new Set<Socket>()
  const silent = new WeakSet<Socket>()
  let hangs = false
  const server = createServer((client) => {
    relay.accepted++
    const upstream = connect(target.port, target.host)
    const isSilent = (): boolean => silent.has(client)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      if (hangs) socket.pause()
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (data) => {
      if (!isSilent()) upstream.write(data)
    })
    upstream.on('data', (data) => {
      if (isSilent()) return
      if (relay.delayMs === 0) client.write(data)
      else setTimeout(() => client.write(data), relay.delayMs) // in order: all are held back alike
    })
  })
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve())
    })
  const refuse = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  const relay = {
    port: 0,
    accepted: 0,
    delayMs: 0,
    hang: () => {
      hangs = true
      for (const socket of sockets) socket.pause()
    },
    resume: () => {
      hangs = false
      for (const socket of sockets) socket.resume()
    },
    halfOpen: () => {
      for (const socket of sockets) silent.add(socket)
    },
    reset: () => {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    refuse,
    accept: () => listen(relay.port),
    close: refuse,
  }
  await listen(0)
  relay.port = (server.address() as AddressInfo).port
  return relay
}
