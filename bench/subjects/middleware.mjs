// What a limiter adds to a request of a framework: microseconds of the server's CPU. Each figure is the difference of
// two servers, one with and one without, asked in turn: between runs a shared machine changes more than limiters differ.
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Pool } from 'undici'
import { quantile } from '../rounds.mjs'

const CONNECTIONS = 32
const REQUESTS = 200 * CONNECTIONS
const WARM_UPS = 2
const ROUNDS = 3

const FRAMEWORKS = {
  express: ['express + sluice', 'express + express-rate-limit'],
  fastify: ['fastify + sluice', 'fastify + sluice, same headers', 'fastify + @fastify/rate-limit'],
  hono: ['hono + sluice', 'hono + hono-rate-limiter'],
}

export const scenarios = Object.fromEntries(
  Object.entries(FRAMEWORKS).map(([name, candidates]) => [name, { unit: 'us added', candidates }]),
)

export const tables = Object.keys(FRAMEWORKS).map((name) => ({
  head: name,
  columns: [
    ['added, us', name],
    ['all of it, us', name, 'us'],
  ],
}))

async function started(name) {
  const child = fork(new URL('../http-server.mjs', import.meta.url), [name])
  const [{ port }] = await once(child, 'message')
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS })
  const cpu = async () => {
    child.send('cpu')
    const [{ cpu }] = await once(child, 'message')
    return cpu
  }
  const asking = async () => {
    for (let i = 0; i < REQUESTS / CONNECTIONS; i++) {
      const { statusCode, body } = await pool.request({ path: '/', method: 'GET' })
      await body.dump()
      if (statusCode !== 200) throw new Error(`${name} answered ${statusCode}`)
    }
  }
  return {
    async us() {
      const before = await cpu()
      await Promise.all(Array.from({ length: CONNECTIONS }, asking))
      return ((await cpu()) - before) / REQUESTS
    },
    async stop() {
      await pool.close()
      child.kill()
    },
  }
}

export async function run(scenario, candidate) {
  // One core for the client and the servers, where there is such a command: see http.mjs.
  spawnSync('taskset', ['-pc', '0', `${process.pid}`])
  const [bare, own] = [await started(scenario), await started(candidate)]
  const added = []
  const all = []
  for (let round = -WARM_UPS; round < ROUNDS; round++) {
    const [without, us] = [await bare.us(), await own.us()]
    if (round < 0) continue
    added.push(us - without)
    all.push(us)
  }
  await Promise.all([bare.stop(), own.stop()])
  return { added: quantile(added, 0.5), us: quantile(all, 0.5) }
}
