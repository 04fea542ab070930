import { createServer } from 'node:http'
import { rateLimit } from '@sluice/limiter/adapters/node'

const limit = rateLimit({ limit: 100, period: '15m', algorithm: 'sliding-window-counter' })

const server = createServer(async (request, response) => {
  if (!(await limit(request, response))) return
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify({ remaining: request.rateLimit?.remaining }))
})

server.listen(process.env.PORT ?? 3000, () => console.log(server.address()))
