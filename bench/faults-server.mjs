// One server for faults.mjs, each with a limit of 10 requests in 2 s for an address: `node faults-server.mjs NAME`.
// Limiters are set up as their own pages show first.
import cluster from 'node:cluster'
import fastifyRateLimit from '@fastify/rate-limit'
import { serve } from '@hono/node-server'
import { rateLimit as sluiceExpress } from '@sluice/limiter/adapters/express'
import { rateLimit as sluiceFastify } from '@sluice/limiter/adapters/fastify'
import { rateLimit as sluiceHono } from '@sluice/limiter/adapters/hono'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { RateLimiterMemory } from 'rate-limiter-flexible'

const limit = 10
const windowMs = 2_000
const period = '2s'
const algorithm = 'sliding-window-counter'
const port = Number(process.env.PORT ?? 0)

function expressApp(middleware, setUp = () => undefined) {
  const app = express()
  setUp(app)
  app.use(middleware)
  app.get('/', (_request, response) => response.send('hello'))
  return new Promise((resolve) => {
    const server = app.listen(port, () => resolve(server.address().port))
  })
}

async function fastifyApp(plugin, options) {
  const app = Fastify()
  await app.register(async (scope) => {
    await scope.register(plugin, options)
    scope.get('/', async () => 'hello')
  })
  await app.listen({ port, host: '0.0.0.0' })
  return app.server.address().port
}

function honoApp(middleware) {
  const app = new Hono()
  app.use(middleware)
  app.get('/', (c) => c.text('hello'))
  return new Promise((resolve) => serve({ fetch: app.fetch, port }, ({ port }) => resolve(port)))
}

/** The middleware of rate-limiter-flexible's own page on Express, with the headers that it shows. */
function flexible() {
  const limiter = new RateLimiterMemory({ points: limit, duration: windowMs / 1_000 })
  const headersOf = ({ msBeforeNext, remainingPoints }) => ({
    'Retry-After': msBeforeNext / 1000,
    'X-RateLimit-Limit': limit,
    'X-RateLimit-Remaining': remainingPoints,
    'X-RateLimit-Reset': Math.ceil((Date.now() + msBeforeNext) / 1000),
  })
  return (request, response, next) =>
    limiter
      .consume(request.ip)
      .then((result) => {
        response.set(headersOf(result))
        next()
      })
      .catch((result) => response.set(headersOf(result)).status(429).send('Too Many Requests'))
}

const expressRateLimit = () =>
  rateLimit({ windowMs, limit, standardHeaders: 'draft-8', legacyHeaders: false })

const servers = {
  'express-rate-limit': () => expressApp(expressRateLimit()),
  'express-rate-limit, trust proxy': () =>
    expressApp(expressRateLimit(), (app) => app.set('trust proxy', true)),
  'express-rate-limit, 2 processes': () => expressApp(expressRateLimit()),
  'rate-limiter-flexible': () => expressApp(flexible()),
  '@fastify/rate-limit': () => fastifyApp(fastifyRateLimit, { max: limit, timeWindow: windowMs }),
  'hono-rate-limiter': () =>
    honoApp(rateLimiter({ windowMs, limit, keyGenerator: (c) => c.env.incoming.socket.remoteAddress })),
  'Sluice for Express': () => expressApp(sluiceExpress({ limit, period, algorithm })),
  'Sluice for Express, windowMs': () => expressApp(sluiceExpress({ limit, windowMs })),
  'Sluice for Fastify': () => fastifyApp(sluiceFastify, { limit, period, algorithm }),
  'Sluice for Hono': () => honoApp(sluiceHono({ limit, period, algorithm })),
}

const name = process.argv[2]
if (name.endsWith('2 processes') && cluster.isPrimary) {
  for (let i = 0; i < 2; i++) cluster.fork({ PORT: process.env.PORT })
} else await servers[name]()
