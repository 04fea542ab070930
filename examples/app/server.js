import { createHash } from 'node:crypto'
import { rateLimit } from '@sluice/limiter/adapters/express'
import express from 'express'

const app = express()
app.use(express.json())

// For all callers. The office is not limited, a bad crawler is refused, a partner has a limit of its own.
app.use(
  rateLimit({
    limit: 100,
    period: '1m',
    allowList: ['192.0.2.0/24'],
    denyList: ['198.51.100.7'],
    overrides: { '203.0.113.0/24': 1_000 },
  }),
)

// Logins: five failures in ten minutes for each name; refusals are delayed. After three refusals the name is blocked for
// an hour.
const logins = rateLimit({
  identifier: 'login',
  algorithm: 'sliding-window-log',
  limit: 5,
  period: '10m',
  key: ({ body }) => `${body?.user ?? ''}`.trim().toLowerCase(),
  skipSuccessfulRequests: true,
  block: { after: 3, within: '10m', for: '1h' },
  tarpit: process.env.TARPIT ?? '500ms',
})
app.post('/login', logins, ({ body }, response) => {
  response.sendStatus(body.password === 'open sesame' ? 200 : 401)
})

// Searches: bursts of 10, then 2 per second. Above 80 % of that the page may show a captcha.
const searches = rateLimit({
  identifier: 'search',
  algorithm: 'token-bucket',
  limit: 2,
  period: '1s',
  burst: 10,
  soft: 0.8,
})
app.get('/search', searches, ({ query, rateLimit: { soft } }, response) => {
  response.json({ q: query.q, captcha: soft })
})

// The API: by plan. API keys are secrets, so only their hashes are stored.
const PLANS = new Map([
  ['key of Ada', 'free'],
  ['key of Bob', 'pro'],
])
const api = rateLimit({
  identifier: 'plan',
  limit: 3,
  period: '1h',
  plan: (request) => PLANS.get(request.get('x-api-key')),
  plans: { free: 10, pro: { limit: 1_000, period: '1h' } },
  key: (request) =>
    request.get('x-api-key') && createHash('sha256').update(request.get('x-api-key')).digest('hex'),
})
app.get('/api', api, ({ rateLimit: { limit, remaining } }, response) => response.json({ limit, remaining }))

const server = app.listen(process.env.PORT ?? 3000, () => console.log(server.address()))
