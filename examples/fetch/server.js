import { serve } from '@hono/node-server'
import { rateLimit } from '@sluice/limiter/adapters/fetch'

const limit = rateLimit({
  limit: 100,
  period: '15m',
  algorithm: 'sliding-window-counter',
  // The client's address comes from the platform: Bun's server.requestIP(request).address, Deno's
  // info.remoteAddr.hostname, a worker's request.headers.get('cf-connecting-ip'). Without one, set a key.
  address: (_request, { incoming }) => incoming.socket.remoteAddress,
})

const handler = limit.wrap(() => Response.json({ hello: 'world' }))

serve({ fetch: handler, port: Number(process.env.PORT ?? 3000) }, console.log)
