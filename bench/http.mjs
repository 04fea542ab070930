// What a limiter adds to a request: microseconds of the server's CPU. `npm run http`
import { fork } from 'node:child_process'
import autocannon from 'autocannon'
import { print, quantile, rounds } from './rounds.mjs'

const REQUESTS = 5_000
const ROUNDS = 21
const WARM_UPS = 4

async function start(name) {
  const child = fork(new URL('./http-server.mjs', import.meta.url), [name])
  const { port } = await new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', () => reject(new Error(`${name} did not start`)))
  })
  const url = `http://127.0.0.1:${port}`
  const cpu = async () => (await (await fetch(`${url}/cpu`)).json()).cpu
  return {
    stop: () => child.kill(),
    async run() {
      const before = await cpu()
      const { non2xx, errors } = await autocannon({ url, connections: 32, amount: REQUESTS })
      if (non2xx + errors > 0) throw new Error(`${name}: ${non2xx} refused, ${errors} failed`)
      return ((await cpu()) - before) / REQUESTS
    },
  }
}

for (const names of [
  ['express', 'express + sluice', 'express + express-rate-limit'],
  ['fastify', 'fastify + sluice', 'fastify + @fastify/rate-limit'],
  ['hono', 'hono + sluice', 'hono + hono-rate-limiter'],
]) {
  const servers = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await start(name)])))
  const rows = await rounds(
    Object.fromEntries(names.map((name) => [name, servers[name].run])),
    ROUNDS,
    WARM_UPS,
  )
  print(names[0], 'us of CPU a request', rows)
  // By differences within a round: between rounds a shared machine changes more than the limiters differ.
  const [bare, ...limited] = rows
  for (const { name, figures } of limited) {
    const added = figures.map((figure, round) => figure - bare.figures[round])
    const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(added, share).toFixed(1))
    console.log(`  ${name} adds ${median} us (quartiles ${low} and ${high})`)
  }
  for (const server of Object.values(servers)) server.stop()
}
process.exit()
