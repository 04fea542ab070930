import { rateLimit } from '@sluice/limiter/adapters/fastify'
import fastify from 'fastify'

const app = fastify()

// All routes of this scope that are declared after it, by one limiter.
await app.register(rateLimit, { max: 100, timeWindow: '15 minutes' })

app.get('/', async ({ rateLimit: { remaining } }) => ({ remaining }))

// A limit of its own, for each caller's card.
const payments = { max: 3, timeWindow: '1 minute', hook: 'preHandler', key: ({ body }) => body.card }
app.post('/pay', { config: { rateLimit: payments } }, async () => ({ paid: true }))

// One limit for both, and none at all.
app.get('/code/send', { config: { rateLimit: { max: 2, groupId: 'code' } } }, async () => 'sent')
app.get('/code/check', { config: { rateLimit: { groupId: 'code' } } }, async () => 'right')
app.get('/health', { config: { rateLimit: false } }, async () => 'fine')

await app.listen({ port: process.env.PORT ?? 3000 })
console.log(`http://127.0.0.1:${app.server.address().port}`)
