// What instruments add to a decision, in process (nanoseconds) and of the service (microseconds of CPU for a request of
// /v1/check). `npm run instruments`, or `npm run instruments process` or `service`
import { fork, spawnSync } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base'
import { createLimiter } from '@sluice/limiter'
import { diagnostics } from '@sluice/limiter/diagnostics'
import { everyObserver } from '@sluice/limiter/events'
import { createOffenders } from '@sluice/limiter/offenders'
import { spanEvents } from '@sluice/observe/opentelemetry'
import { LiveFigures, RefusalLog, Tallies } from '@sluice/observe/parts'
import { Pool } from 'undici'
import { compared, print, quantile, rounds } from './rounds.mjs'

const DECISIONS = 400_000
const KEYS = 100_000
const ROUNDS = 7

const counts = () => true
const now = Date.now
const tallies = () => new Tallies(counts)
const figures = (of) =>
  new LiveFigures({ tallies: of, stores: {}, rules: () => ({}), counts, now }).observe
const refusals = () => new RefusalLog({ log: { info() {} }, showKey: (key) => key, counts, now }).observe

const CANDIDATES = {
  off: () => undefined,
  'diagnostics, nobody listens': () => diagnostics(),
  'an empty observer': () => () => {},
  metrics: () => tallies().observe,
  offenders: () => createOffenders().observe,
  'live figures': () => figures(tallies()),
  'log of refusals': refusals,
  'spans, 1 % recorded': () => spanEvents(trace),
  'all of these': () => {
    const own = tallies()
    const all = [own.observe, createOffenders().observe, figures(own), refusals(), spanEvents(trace)]
    return everyObserver(...all, diagnostics()).observe
  },
}

/** Keys as they come: evenly, or a few of them most of the time. */
const STREAMS = {
  'keys that come evenly': (i) => (i * 7_919) % KEYS,
  'keys of which few come most often': (i) => Math.floor(KEYS ** (((i * 7_919) % KEYS) / KEYS)),
}

function contexts() {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const tracer = new BasicTracerProvider({ sampler: new TraceIdRatioBasedSampler(0.01) }).getTracer('bench')
  return () => trace.setSpan(context.active(), tracer.startSpan('request'))
}

async function inProcess() {
  const request = contexts()
  const bytes = Buffer.from(Array.from({ length: KEYS }, (_, i) => `user:${`${i}`.padStart(11, '0')}`).join(''))
  for (const [title, at] of Object.entries(STREAMS)) {
    const runs = Object.entries(CANDIDATES).map(([name, make]) => {
      const observe = make()
      const limiter = createLimiter({
        policies: { api: { algorithm: 'gcra', limit: 1_000_000, period: '1m' } },
        ...(observe && { observe }),
      })
      const some = (from) => {
        for (let i = from; i < from + 100; i++) {
          const start = at(i) * 16
          limiter.check(bytes.latin1Slice(start, start + 16)) // a fresh string each time, as a server has
        }
      }
      const run = async () => {
        let heard = 0
        const listener = () => heard++
        if (name === 'all of these') subscribe('sluice:decided', listener)
        const began = performance.now()
        for (let i = 0; i < DECISIONS; i += 100) context.with(request(), some, undefined, i)
        return ((performance.now() - began) * 1e6) / DECISIONS
      }
      return [name, run]
    })
    const rows = await rounds(Object.fromEntries(runs), ROUNDS, 2)
    print(title, 'ns a decision', rows)
    for (const { name, figures } of rows.slice(1))
      console.log(`  ${name} adds ${addedTo(rows[0].figures, figures).toFixed(0)} ns`)
  }
}

/** By differences within a round: between rounds a shared machine changes more than the candidates differ. */
function addedTo(base, figures) {
  return quantile(
    figures.map((figure, round) => figure - base[round]),
    0.5,
  )
}

const INSTANCES = 5
const CONNECTIONS = 16
const REQUESTS = 500 * CONNECTIONS

async function startService(name, collector) {
  const child = fork(new URL('./instruments-server.mjs', import.meta.url), [name, collector])
  const { http } = await new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', () => reject(new Error(`${name} did not start`)))
  })
  const pool = new Pool(http, { connections: CONNECTIONS })
  let next = 0
  const asking = async () => {
    for (let i = 0; i < REQUESTS / CONNECTIONS; i++) {
      const user = `user:${(next++ * 7_919) % KEYS}`
      const path = next % 10 === 0 ? '/login' : '/search' // a tenth meets a limit that refuses
      const { statusCode, body } = await pool.request({
        path: '/v1/check',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ domain: 'shop', request: { path, attributes: { user: path === '/login' ? 'eve' : user } } }),
      })
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
      child.kill('SIGKILL')
    },
    async run() {
      const before = await cpu()
      await Promise.all(Array.from({ length: CONNECTIONS }, asking))
      return ((await cpu()) - before) / REQUESTS
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
    for (const [i, { figures }] of rows.entries()) {
      all[i].figures.push(...figures)
      all[i].added.push(addedTo(rows[0].figures, figures))
    }
  }
  print('/v1/check', 'us of CPU a request', compared(all))
  for (const { name, added } of all.slice(1)) {
    const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(added, share).toFixed(1))
    console.log(`  ${name} adds ${median} us (quartiles of ${INSTANCES} services: ${low} and ${high})`)
  }
}

const chosen = process.argv[2]
if (chosen !== 'service') await inProcess()
if (chosen !== 'process') await ofService()
process.exit()
