import type { FastifyInstance } from 'fastify'

/** A server on its way out. */
export interface Drain {
  readonly done: Promise<void>
  /** Cuts what is still open. */
  force(): void
}

/** A connection may fall idle only after it was looked at, so it is looked at again. */
const SWEEP_MS = 50

/** Takes no new connections, answers what is in flight, and closes: after `withinMs` by force. */
export function drain(app: FastifyInstance, withinMs: number): Drain {
  const force = (): void => app.server.closeAllConnections()
  const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS)
  const late = setTimeout(force, withinMs)
  const close = async (): Promise<void> => {
    try {
      await app.close()
    } finally {
      clearInterval(sweep)
      clearTimeout(late)
    }
  }
  return { done: close(), force }
}

/** While it drains, every answer says that its connection ends: else clients would send more on it. */
export function endConnectionsWhenClosing(app: FastifyInstance): void {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })
}
