import { Server, type Socket } from 'node:net'
import { startTimer } from '@sluice/limiter/time'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Ends connections on which nothing has come yet: browsers open some ahead, and Node takes them for busy ones. */
    endSilentConnections: () => void
  }
}

/** A server on its way out. */
export interface Drain {
  readonly done: Promise<void>
  /** Cuts what is still open. */
  force(): void
}

/** A connection may fall idle only after it was looked at, so it is looked at again. */
const SWEEP_MS = 50

/**
 * Takes no new connections, answers what is in flight and what comes on idle connections within `idleMs`, and closes:
 * after `withinMs` by force.
 */
export function drain(app: FastifyInstance, idleMs: number, withinMs: number): Drain {
  const { server } = app
  const force = (): void => server.closeAllConnections()
  // That of http.Server would close idle connections at once, while a request may be on its way.
  const closed = new Promise<unknown>((resolve) => Server.prototype.close.call(server, resolve))
  let sweep: NodeJS.Timeout | undefined
  const stopIdle = startTimer(() => {
    const closeIdle = (): void => {
      server.closeIdleConnections()
      app.endSilentConnections()
    }
    sweep = setInterval(closeIdle, SWEEP_MS)
    closeIdle()
  }, idleMs)
  const stopLate = startTimer(force, withinMs)
  const close = async (): Promise<void> => {
    try {
      await closed
      await app.close()
    } finally {
      stopIdle()
      clearInterval(sweep)
      stopLate()
    }
  }
  return { done: close(), force }
}

/** Every answer says that its connection ends: else clients would send more on it. */
export function endConnectionsWhen(app: FastifyInstance, stopping: () => boolean): void {
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.decorate('endSilentConnections', () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (stopping()) reply.header('connection', 'close')
    done(null, payload)
  })
}
