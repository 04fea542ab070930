import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from './server.test-support.ts'

const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url))
const PROCESSES = 8
const KEYS = 1_000

/** A process whose clock is off by hours: asks 64 at a time, and writes how many it was granted of each kind. */
const CHILD = `
import { Redis } from 'ioredis'
import { planOf } from '@sluice/limiter/algorithms'
import { RedisStore } from '@sluice/limiter/stores/redis'
import { stepFor } from '@sluice/limiter/testing'

const [port, hours] = process.argv.slice(1).map(Number)
const [now, date] = [performance.now.bind(performance), Date.now]
performance.now = () => now() + hours * 3_600_000
Date.now = () => date() + hours * 3_600_000
const client = new Redis({ port, autoResendUnfulfilledCommands: false })
const store = new RedisStore({ client })
const year = { calendar: 'year', zone: 'Pacific/Auckland' }
const kinds = {
  bucket: [planOf({ algorithm: 'token-bucket', limit: 500, period: '3650d' }), 500, () => 'k'],
  log: [planOf({ algorithm: 'sliding-window-log', limit: 500, period: '3650d' }), 500, () => 'k'],
  calendar: [planOf({ algorithm: 'fixed-window', limit: 500, period: year }), 500, () => 'k'],
  many: [planOf({ algorithm: 'gcra', limit: 5, period: '3650d' }), ${KEYS}, (i) => 'k' + i],
}
const granted = {}
for (const [name, [plan, asks, keyOf]] of Object.entries(kinds)) {
  const { rule } = stepFor(plan, { name })
  let next = 0
  granted[name] = 0
  await Promise.all(Array.from({ length: 64 }, async () => {
    while (next < asks) {
      const step = { rule, key: keyOf(next++), cost: 1 }
      if ((await store.decide([step], false)).allowed) granted[name]++
    }
  }))
}
console.log(JSON.stringify(granted))
client.disconnect()
`

let server: RedisServer

beforeAll(async () => {
  if (!existsSync(`${PACKAGE}dist/stores/redis.js`)) {
    throw new Error('packages/limiter/dist is not there: run `npm run build` first')
  }
  server = await startRedis()
})

afterAll(() => server.stop())

describe('Eight processes over one Redis', () => {
  it('grant each limit exactly, whatever their clocks say', async () => {
    const children = Array.from({ length: PROCESSES }, async (_, i) => {
      const argv = ['--input-type=module', '-e', CHILD, '--', String(server.port), String((i - 4) * 1_000)]
      return JSON.parse((await promisify(execFile)(process.execPath, argv, { cwd: PACKAGE })).stdout)
    })
    const granted = { bucket: 0, log: 0, calendar: 0, many: 0 }
    for (const child of await Promise.all(children)) {
      for (const kind of Object.keys(granted) as (keyof typeof granted)[]) granted[kind] += child[kind]
    }
    expect(granted).toEqual({ bucket: 500, log: 500, calendar: 500, many: 5 * KEYS })
  })
})
