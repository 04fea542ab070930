// One server for subjects/middleware.mjs: `node http-server.mjs NAME`. Tells whoever asks how many microseconds of CPU it has used.

import { executionAsyncResource } from 'node:async_hooks'
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

const limit = 1_000_000_000
const windowMs = 60_000
/** Every request here is from one address, which no server meets but behind a proxy: of that it need not warn. */
const trustProxy = 'none'

function expressApp(middleware) {
  const app = express()
  if (middleware !== undefined) app.use(middleware)
  app.get('/', (_request, response) => response.send('hello'))
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server.address().port))
  })
}

async function fastifyApp(plugin, options) {
  const app = Fastify()
  await app.register(async (scope) => {
    if (plugin !== undefined) await scope.register(plugin, options)
    scope.get('/', async () => 'hello')
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server.address().port
}

function honoApp(middleware) {
  const app = new Hono()
  if (middleware !== undefined) app.use(middleware)
  app.get('/', (c) => c.text('hello'))
  return new Promise((resolve) =>
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port)),
  )
}

const servers = {
  express: () => expressApp(),
  'express + sluice': () =>
    expressApp(sluiceExpress({ windowMs, limit, standardHeaders: 'draft-8', trustProxy })),
  'express + express-rate-limit': () =>
    expressApp(rateLimit({ windowMs, limit, standardHeaders: 'draft-8', legacyHeaders: false })),
  fastify: () => fastifyApp(),
  'fastify + sluice': () => fastifyApp(sluiceFastify, { timeWindow: windowMs, max: limit, trustProxy }),
  'fastify + sluice, same headers': () =>
    fastifyApp(sluiceFastify, { timeWindow: windowMs, max: limit, trustProxy, dialect: 'x-ratelimit' }),
  'fastify + @fastify/rate-limit': () => fastifyApp(fastifyRateLimit, { timeWindow: windowMs, max: limit }),
  hono: () => honoApp(),
  'hono + sluice': () => honoApp(sluiceHono({ windowMs, limit, trustProxy })),
  'hono + hono-rate-limiter': () =>
    honoApp(rateLimiter({ windowMs, limit, keyGenerator: (c) => c.env.incoming.socket.remoteAddress })),
}

// On Node 20 process.nextTick stays slow, by 3 µs a request, once a collection has found none of its objects alive,
// which happens to one server in six, with or without a limiter. Here one of them is kept alive.
const kept = []
process.nextTick(() => kept.push(executionAsyncResource()))

process.on('SIGINT', () => process.exit())
// Not by a route: a connection that no limiter sees would change the figures of the others.
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpu: user + system })
})
if (process.send) process.send({ port: await servers[process.argv[2]]() })
else console.log(Object.keys(servers).join('\n'))
