// An answer that nobody decides, of /v1/check or ShouldRateLimit: the least that a service costs.
// node bare-server.mjs fastify|node:http|@grpc/grpc-js
import { createServer } from 'node:http'
import { createRequire } from 'node:module'

const figures = {
  allowed: true,
  limit: 1_000_000,
  remaining: 999_999,
  retryAfterMs: 0,
  moreAfterMs: 0.06,
  resetAfterMs: 0.06,
  delayMs: 0,
}
const ANSWER = {
  ...figures,
  policy: 'login',
  policies: [{ policy: 'login', ...figures, windowSeconds: 60 }],
  degraded: false,
  headers: { RateLimit: '"login";r=999999;t=1', 'RateLimit-Policy': '"login";q=1000000;w=60' },
}

if (process.argv[2] === 'fastify') {
  const { default: fastify } = await import('fastify')
  const app = fastify()
  app.post('/v1/check', async ({ body }) => (body.request.ip === undefined ? {} : ANSWER))
  console.error(await app.listen({ port: 0, host: '127.0.0.1' }))
} else if (process.argv[2] === '@grpc/grpc-js') {
  const service = new URL('../packages/service/', import.meta.url)
  const { Server, ServerCredentials } = createRequire(new URL('package.json', service))('@grpc/grpc-js')
  const { definitions, serviceOf } = await import(new URL('dist/grpc/definitions.js', service))
  const server = new Server({ 'grpc.enable_channelz': 0 })
  const current_limit = { requests_per_unit: 1_000_000, unit: 3 }
  const status = {
    code: 1,
    current_limit,
    limit_remaining: 999_999,
    duration_until_reset: { seconds: 1, nanos: 0 },
  }
  const headers = Object.entries(ANSWER.headers).map(([key, value]) => ({ key, value }))
  const answer = {
    overall_code: 1,
    statuses: [status],
    response_headers_to_add: headers,
    request_headers_to_add: [],
  }
  server.addService(serviceOf(definitions(), 'envoy.service.ratelimit.v3.RateLimitService'), {
    ShouldRateLimit: ({ request }, reply) => reply(null, request.descriptors.length > 0 ? answer : {}),
  })
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_error, port) =>
    console.error(`for Envoy at 127.0.0.1:${port}`),
  )
} else {
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { ip } = JSON.parse(Buffer.concat(chunks).toString()).request
      const text = JSON.stringify(ip === undefined ? {} : ANSWER)
      response.writeHead(200, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(text),
      })
      response.end(text)
    })
  })
  server.listen(0, '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}`))
}
