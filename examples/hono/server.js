import { serve } from '@hono/node-server'
import { rateLimit } from '@sluice/limiter/adapters/hono'
import { Hono } from 'hono'

const app = new Hono()

// On Cloudflare add: address: (c) => c.req.header('cf-connecting-ip')
app.use(rateLimit({ limit: 100, period: '15m', algorithm: 'sliding-window-counter' }))

app.get('/', (c) => c.json({ remaining: c.get('rateLimit').remaining }))

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, console.log)
