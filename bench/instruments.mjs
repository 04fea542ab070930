// What instruments add to a decision: nanoseconds of CPU in process, and microseconds of CPU for a request of /v1/check
// of the service. `npm run instruments`, or `npm run instruments process` or `service`
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Pool } from 'undici'
import { compared, print, quantile, rounds } from './rounds.mjs'

const ROUNDS = 7
const INSTANCES = 5
const CONNECTIONS = 16
const REQUESTS = 1_000 * CONNECTIONS
const USERS = 100_000

/** A process for each, so that none is compiled for what another does. */
async function start(file, ...argv) {
  const child = fork(new URL(file, import.meta.url), argv)
  const [started] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${argv} did not start`))),
  ])
  return {
    started,
    async ask(message) {
      child.send(message)
      return (await once(child, 'message'))[0]
    },
    stop: () => child.kill('SIGKILL'),
  }
}

async function inProcess() {
  const { started, stop } = await start('instruments-limiter.mjs', 'list')
  stop()
  for (const stream of started.streams) {
    const all = started.names.map((name) => ({ name, figures: [], added: [] }))
    for (let instance = 0; instance < 3; instance++) {
      const limiters = []
      for (const name of started.names) limiters.push(await start('instruments-limiter.mjs', name, stream))
      const runs = limiters.map(({ ask }, i) => [started.names[i], () => ask('run')])
      const rows = await rounds(Object.fromEntries(runs), ROUNDS, 2)
      for (const limiter of limiters) limiter.stop()
      note(all, rows)
    }
    report(stream, 'ns of CPU a decision', all, 3)
  }
}

function note(all, rows) {
  for (const [i, { figures }] of rows.entries()) {
    all[i].figures.push(...figures)
    all[i].added.push(addedTo(rows[0].figures, figures))
  }
}

function report(title, unit, all, instances) {
  print(title, unit, compared(all))
  for (const { name, added } of all.slice(1)) {
    const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(added, share).toFixed(1))
    console.log(`  ${name} adds ${median} (quartiles of ${instances} processes: ${low} and ${high})`)
  }
}

/** By differences within a round: between rounds a shared machine changes more than the candidates differ. */
function addedTo(base, figures) {
  return quantile(
    figures.map((figure, round) => figure - base[round]),
    0.5,
  )
}

async function startService(name, collector) {
  const { started, ask, stop } = await start('instruments-server.mjs', name, collector)
  const pool = new Pool(started.http, { connections: CONNECTIONS })
  let next = 0
  const asking = async () => {
    for (let i = 0; i < REQUESTS / CONNECTIONS; i++) {
      const refused = next % 10 === 0
      const request = refused
        ? { path: '/login', attributes: { user: 'eve' } }
        : { path: '/search', attributes: { user: `user:${(next * 7_919) % USERS}` } }
      next++
      const { statusCode, body } = await pool.request({
        path: '/v1/check',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ domain: 'shop', request }),
      })
      await body.dump()
      if (statusCode !== 200) throw new Error(`${name} answered ${statusCode}`)
    }
  }
  return {
    async stop() {
      await pool.close()
      stop()
    },
    async run() {
      const before = await ask('cpu')
      await Promise.all(Array.from({ length: CONNECTIONS }, asking))
      return ((await ask('cpu')) - before) / REQUESTS
    },
  }
}

async function ofService() {
  const collector = createServer((request, response) => request.resume().on('end', () => response.end()))
  collector.listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const url = `http://127.0.0.1:${collector.address().port}`
  spawnSync('taskset', ['-pc', '0', `${process.pid}`])
  const names = ['off', 'default', 'all']
  const all = names.map((name) => ({ name, figures: [], added: [] }))
  for (let instance = 0; instance < INSTANCES; instance++) {
    const services = []
    for (const name of names) services.push(await startService(name, url))
    const rows = await rounds(Object.fromEntries(names.map((name, i) => [name, services[i].run])), 3, 2)
    for (const service of services) await service.stop()
    note(all, rows)
  }
  report('/v1/check', 'us of CPU a request', all, INSTANCES)
}

const chosen = process.argv[2]
if (chosen !== 'service') await inProcess()
if (chosen !== 'process') await ofService()
process.exit()
