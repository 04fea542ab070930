import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisServer, startRedis } from './stores/redis/server.test-support.ts'

const PACKAGE = fileURLToPath(new URL('../', import.meta.url))

/** Schedules so many jobs at once, 20 a second, and writes when each began; ends in the middle after so many. */
const CHILD = `
import { Redis } from 'ioredis'
import { createLimiter } from '@sluice/limiter'
import { createQueue } from '@sluice/limiter/queue'
import { RedisStore } from '@sluice/limiter/stores/redis'

const [port, jobs, last] = process.argv.slice(1).map(Number)
const client = new Redis({ port, autoResendUnfulfilledCommands: false })
const policies = { jobs: { algorithm: 'token-bucket', limit: 20, period: '1s', burst: 1 } }
const queue = createQueue(createLimiter({ store: new RedisStore({ client }), policies }))
const began = []
for (let i = 0; i < jobs; i++) {
  queue.schedule('mails', () => {
    began.push(Date.now())
    if (began.length < last) return
    console.log(JSON.stringify(began))
    process.exit()
  })
}
`

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

it('Acceptance 12.7: two processes start 20 jobs a second together, and the place of one that ends is free', async () => {
  const run = async (jobs: number, last: number): Promise<number[]> => {
    const args = ['--input-type=module', '-e', CHILD, ...[server.port, jobs, last].map(String)]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PACKAGE })
    return JSON.parse(stdout)
  }
  const began = (await Promise.all([run(25, 25), run(25, 5)])).flat().toSorted((a, b) => a - b)
  expect(began).toHaveLength(30)
  // 29 waits of 50 ms; a machine that delays the first alone makes it shorter. Two that do not share need half of it.
  expect(began.at(-1)! - began[0]!).toBeGreaterThanOrEqual(0.7 * 29 * 50)
})
