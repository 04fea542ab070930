// What a limiter adds to a request: microseconds of the server's CPU. `npm run http`
import { fork } from 'node:child_process'
import autocannon from 'autocannon'
import { print, rounds } from './rounds.mjs'

const REQUESTS = 20_000

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
  const rows = await rounds(Object.fromEntries(names.map((name) => [name, servers[name].run])), 9)
  print(names[0], 'us of CPU a request', rows)
  for (const { name, median } of rows.slice(1))
    console.log(`  ${name} adds ${(median - rows[0].median).toFixed(1)} us`)
  for (const server of Object.values(servers)) server.stop()
}
process.exit()
