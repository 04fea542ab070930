import { storeSuite } from '@sluice/conformance'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { RedisStore } from './redis.ts'
import { type RedisServer, startRedis } from './redis/server.test-support.ts'

let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  client = new Redis({ port: server.port, autoResendUnfulfilledCommands: false })
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})
storeSuite({ describe, it }, 'the Redis store', (clock) => new RedisStore({ client, clock }))
