import { rateLimit } from '@sluice/limiter/adapters/fastify'
import fastify from 'fastify'

const app = fastify()

// One limiter for all routes of this scope that are declared after it.
await app.register(rateLimit, { limit: 100, period: '15m', algorithm: 'sliding-window-counter' })

app.get('/', async (request) => ({ remaining: request.rateLimit?.remaining }))

// A limit of its own, for each API key.
app.post(
  '/pay',
  { config: { rateLimit: { limit: 3, period: '1m', key: ({ headers }) => headers['x-api-key'] } } },
  async () => ({ paid: true }),
)

// One limit for both, and none at all.
app.get('/code/send', { config: { rateLimit: { max: 2, groupId: 'code' } } }, async () => 'sent')
app.get('/code/check', { config: { rateLimit: { groupId: 'code' } } }, async () => 'right')
app.get('/health', { config: { rateLimit: false } }, async () => 'fine')

console.log(await app.listen({ port: Number(process.env.PORT ?? 3000) }))
