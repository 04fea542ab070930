// An answer of /v1/check that nobody decides: the least that a service costs. node bare-server.mjs fastify|node:http
import { createServer } from 'node:http'

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
