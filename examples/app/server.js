import { createHash } from 'node:crypto'
import { rateLimit } from '@sluice/limiter/adapters/express'
import { compile } from '@sluice/limiter/rules'
import { loadText } from '@sluice/rulebook'
import express from 'express'

const app = express()
app.use(express.json())

// The addresses of the proxies in front, if there are any.
const trustProxy = process.env.TRUST_PROXY ?? false

// For all callers. The office is not limited, a bad crawler is refused, a partner has a limit of its own.
app.use(
  rateLimit({
    limit: 100,
    period: '1m',
    algorithm: 'sliding-window-counter',
    allowList: ['192.0.2.0/24'],
    denyList: ['198.51.100.7'],
    overrides: { '203.0.113.0/24': 1_000 },
    trustProxy,
  }),
)

// Logins: only failures count, per address and per account from one address; after three refusals that pair is blocked
// for an hour. A limit by account alone would let anyone lock the owner out, so it only reports, and asks for a captcha.
const rules = compile(
  loadText(`
    domain: login
    limits:
      - name: address
        key: [ip]
        limit: 20/10m
        algorithm: sliding-window-log
      - name: account and address
        key: [attribute:account|fold, ip]
        limit: 5/10m
        algorithm: sliding-window-log
        block: { after: 3, within: 10m, for: 1h }
      - name: account
        key: [attribute:account|fold]
        limit: 20/1h
        algorithm: sliding-window-log
        mode: shadow
  `),
)
const logins = rateLimit({
  rules,
  domain: 'login',
  attributes: ({ body }) => ({ account: `${body?.user ?? ''}`.trim() }),
  skipSuccessfulRequests: true,
  tarpit: process.env.TARPIT ?? '500ms',
  trustProxy,
})
app.post('/login', logins, ({ body, rateLimit: { decision } }, response) => {
  const attacked = decision.policies.some(({ policy, allowed }) => policy === 'account' && !allowed)
  if (attacked && body?.captcha !== 'solved') return response.status(403).json({ captcha: true })
  response.sendStatus(body?.password === 'open sesame' ? 200 : 401)
})

// Searches: bursts of 10, then 2 per second. Above 80 % of that the page may show a captcha.
const searches = rateLimit({
  identifier: 'search',
  algorithm: 'token-bucket',
  limit: 2,
  period: '1s',
  burst: 10,
  soft: 0.8,
  trustProxy,
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
  trustProxy,
  plan: (request) => PLANS.get(request.get('x-api-key')),
  plans: { free: 10, pro: { limit: 1_000, period: '1h' } },
  key: (request) =>
    request.get('x-api-key') && createHash('sha256').update(request.get('x-api-key')).digest('hex'),
})
app.get('/api', api, ({ rateLimit: { limit, remaining } }, response) => response.json({ limit, remaining }))

const server = app.listen(process.env.PORT ?? 3000, () => console.log(server.address()))
