import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a Redis server, and fails in the ways that networks and servers fail. */
export interface TcpProxy {
  readonly port: number
  /** Milliseconds by which each answer is held back. */
  delayMs: number
  /** Cuts each connection at its next request, once the server has answered, and keeps the answer to itself. */
  losesAnswers: boolean
  /** Passes on requests, and keeps the answers to itself; the connections stay open. */
  keepsAnswers: boolean
  /** Passes on nothing; the connections stay open, and new ones are accepted. */
  hangs: boolean
  /** Puts bytes that are no Redis protocol in place of each answer. */
  garbles: boolean
  /** Cuts the next connection that has passed on so many bytes of requests, in the middle of one. */
  cutAfterBytes: number
  /** Answers that were lost. */
  readonly lost: number
  /** Connections that were accepted. */
  readonly accepted: number
  /** The connections of now pass on nothing from now on, and stay open; new ones work. */
  silence(): void
  /** Cuts all connections. */
  cut(): void
  /** Answers each command of which the name fits with `reply`, which the server never sees; `undefined`: no more. */
  lie(reply: string | undefined, name?: RegExp): void
  /** Cuts all connections, and refuses new ones until `listen`. */
  refuse(): Promise<void>
  listen(): Promise<void>
  close(): Promise<void>
}

interface Lie {
  readonly reply: string
  readonly name: RegExp
}

export async function startProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const silent = new WeakSet<Socket>()
  let lie: Lie | undefined
  const server = createServer((client) => {
    proxy.accepted++
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
    const isSilent = (): boolean => proxy.hangs || silent.has(client)
    const liar = commandReader((name, bytes) => {
      if (lie?.name.test(name)) client.write(lie.reply)
      else upstream.write(bytes)
    })
    let passed = 0
    client.on('data', (data) => {
      if (isSilent()) return
      if (lie !== undefined) return liar(data)
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
      } else if (proxy.keepsAnswers) proxy.lost++
      else if (isSilent()) return
      else if (proxy.garbles) client.write('\0 no Redis speaks so\r\n')
      else if (proxy.delayMs === 0) client.write(data)
      else setTimeout(() => client.write(data), proxy.delayMs)
    })
  })
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const refuse = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve))
    cut()
    await closed
  }
  const proxy = {
    port: 0,
    delayMs: 0,
    losesAnswers: false,
    keepsAnswers: false,
    hangs: false,
    garbles: false,
    cutAfterBytes: Number.POSITIVE_INFINITY,
    lost: 0,
    accepted: 0,
    silence: () => {
      for (const socket of sockets) silent.add(socket)
    },
    cut,
    lie: (reply: string | undefined, name = /^/) => {
      cut() // so that no answer of the server's is under way
      lie = reply === undefined ? undefined : { reply, name }
    },
    refuse,
    listen: () => listen(proxy.port),
    close: refuse,
  }
  await listen(0)
  proxy.port = (server.address() as AddressInfo).port
  return proxy
}

/** Takes what a client sends apart into commands: arrays of bulk strings. */
function commandReader(read: (name: string, bytes: Buffer) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (data) => {
    rest = Buffer.concat([rest, data])
    for (;;) {
      const command = firstCommand(rest)
      if (command === undefined) return
      read(command.name, rest.subarray(0, command.end))
      rest = rest.subarray(command.end)
    }
  }
}

function firstCommand(bytes: Buffer): { name: string; end: number } | undefined {
  const header = lineAt(bytes, 0)
  if (header === undefined) return undefined
  let name = ''
  let at = header.end
  for (let i = 0; i < header.number; i++) {
    const length = lineAt(bytes, at)
    if (length === undefined || bytes.length < length.end + length.number + 2) return undefined
    if (i === 0) name = bytes.toString('latin1', length.end, length.end + length.number)
    at = length.end + length.number + 2
  }
  return { name, end: at }
}

/** A line such as `*3` or `$10`. */
function lineAt(bytes: Buffer, from: number): { number: number; end: number } | undefined {
  const end = bytes.indexOf('\r\n', from)
  return end < 0 ? undefined : { number: Number(bytes.toString('latin1', from + 1, end)), end: end + 2 }
}
