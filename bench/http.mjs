// What a limiter adds to a request: microseconds of the server's CPU. `npm run http`, or `npm run http fastify`
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Pool } from 'undici'
import { compared, print, quantile, rounds } from './rounds.mjs'

/** Two servers of one kind differ by more than the limiters do: each is started so many times. */
const INSTANCES = 11
const ROUNDS = 3
/** After the first pause a server compiles anew. */
const WARM_UPS = 2
const CONNECTIONS = 32
const REQUESTS = 250 * CONNECTIONS

// One core for the client and the servers, where there is such a command: on two, a server also pays for waking the
// client, now more, now less.
spawnSync('taskset', ['-pc', '0', `${process.pid}`])

async function start(name) {
  const child = fork(new URL('./http-server.mjs', import.meta.url), [name])
  const { port } = await new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', () => reject(new Error(`${name} did not start`)))
  })
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS })
  const asking = async () => {
    for (let i = 0; i < REQUESTS / CONNECTIONS; i++) {
      const { statusCode, body } = await pool.request({ path: '/', method: 'GET' })
      await body.dump()
      if (statusCode !== 200) throw new Error(`${name} answered ${statusCode}`)
    }
  }
  const cpu = async () => {
    child.send('cpu')
    const [{ cpu }] = await once(child, 'message')
    return cpu
  }
  return {
    async stop() {
      await pool.close()
      child.kill()
    },
    async run() {
      const before = await cpu()
      await Promise.all(Array.from({ length: CONNECTIONS }, asking))
      return ((await cpu()) - before) / REQUESTS
    },
  }
}

for (const names of [
  ['express', 'express + sluice', 'express + express-rate-limit'],
  ['fastify', 'fastify + sluice', 'fastify + sluice, same headers', 'fastify + @fastify/rate-limit'],
  ['hono', 'hono + sluice', 'hono + hono-rate-limiter'],
].filter(([name]) => [undefined, name].includes(process.argv[2]))) {
  const all = names.map((name) => ({ name, figures: [], added: [] }))
  for (let instance = 0; instance < INSTANCES; instance++) {
    const servers = await Promise.all(names.map(start))
    const runs = Object.fromEntries(names.map((name, i) => [name, servers[i].run]))
    const rows = await rounds(runs, ROUNDS, WARM_UPS)
    for (const server of servers) await server.stop()
    for (const [i, { figures }] of rows.entries()) {
      all[i].figures.push(...figures)
      // By differences within a round: between rounds a shared machine changes more than the limiters differ.
      const added = figures.map((figure, round) => figure - rows[0].figures[round])
      all[i].added.push(quantile(added, 0.5))
    }
  }
  print(names[0], 'us of CPU a request', compared(all))
  for (const { name, added } of all.slice(1)) {
    const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(added, share).toFixed(1))
    console.log(`  ${name} adds ${median} us (quartiles of ${INSTANCES} servers: ${low} and ${high})`)
  }
}
process.exit()
