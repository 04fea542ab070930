import { rateLimit } from '@sluice/limiter/adapters/express'
import express from 'express'

const app = express()

// All callers: 100 requests in any 15 minutes.
app.use(rateLimit({ limit: 100, period: '15m', algorithm: 'sliding-window-counter' }))

// Logins: also 5 failures per minute. Successful logins are given back.
const logins = rateLimit({
  limit: 5,
  period: '1m',
  algorithm: 'sliding-window-log',
  skipSuccessfulRequests: true,
})
app.post('/login', logins, express.json(), ({ body }, response) => {
  response.sendStatus(body?.password === 'open sesame' ? 200 : 401)
})

app.get('/', (request, response) => {
  response.json({ remaining: request.rateLimit?.remaining })
})

const server = app.listen(process.env.PORT ?? 3000, () => console.log(server.address()))
