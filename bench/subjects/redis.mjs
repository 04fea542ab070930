// A decision by a shared Redis on loopback TCP: microseconds of CPU, client's and server's together, over 5,000
// keys that are all there when it is measured.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuOf, ownCpu } from '../cpu.mjs'
import { quantiles, said, waitsOf } from '../served.mjs'

const KEYS = 5_000
const LIMIT = 1_000_000
const WARM_UP = 2 * KEYS
const COUNTS = { 1: 8_000, 64: 40_000, 512: 40_000 }
const ONE = [
  'sluice gcra',
  'sluice fixed-window',
  'sluice gcra, node-redis',
  'rate-limiter-flexible',
  'rate-limiter-flexible, node-redis',
  'rate-limit-redis',
  'rate-limit-redis, node-redis',
  'an empty script',
]
const SEVERAL = [
  'sluice gcra',
  'sluice, 2 limits',
  'rate-limiter-flexible, 2 limits',
  'sluice, 3 limits',
  'rate-limiter-flexible, 3 limits',
]

export const scenarios = {
  '1 in flight': { unit: 'us', candidates: ONE },
  '64 in flight': { unit: 'us', candidates: ONE },
  '512 in flight': { unit: 'us', candidates: ONE },
  'several limits, 1 in flight': { unit: 'us', candidates: SEVERAL },
  'several limits, 64 in flight': { unit: 'us', candidates: SEVERAL },
  'units taken ahead for one key, 64 in flight': {
    unit: 'us',
    candidates: ['sluice hot key', 'sluice hot key, 10 ahead', 'sluice hot key, 100 ahead'],
  },
}

const costs = (kind) => ({
  head: 'us',
  columns: Object.keys(scenarios)
    .filter((scenario) => scenario.replace(/^\d+ /, '').startsWith(kind))
    .map((scenario) => [scenario, scenario, undefined, 'server']),
})

export const tables = [
  costs('in flight'),
  ...['1 in flight', '64 in flight', '512 in flight'].map((scenario) => waitsOf(scenario, 'decisions')),
  costs('several limits'),
  costs('units taken ahead'),
]

/** A server of its own, that all candidates use one after the other. Its processes find it by their environment. */
export async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const port = String(20_000 + (process.pid % 20_000))
  const words = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  const server = spawn('redis-server', words)
  await said(/Ready to accept/, server, server.stdout)
  process.env.BENCH_REDIS = `${port} ${server.pid}`
  return async () => {
    server.kill()
    await once(server, 'close')
    rmSync(folder, { recursive: true, force: true })
  }
}

async function ioredis(port) {
  const { Redis } = await import('ioredis')
  return new Redis({ port, host: '127.0.0.1', autoResendUnfulfilledCommands: false })
}

/** The rivals' fastest client: its timer for each command, which costs more than the command, is off. */
async function nodeRedis(port) {
  const { createClient } = await import('redis')
  const client = createClient({ socket: { port, host: '127.0.0.1' }, commandOptions: { timeout: 0 } })
  await client.connect()
  return client
}

async function sluice(candidate, client) {
  const { createLimiter } = await import('@sluice/limiter')
  const { RedisStore } = await import('@sluice/limiter/stores/redis')
  // Keys live for some seconds at least, as those of the others do.
  const policy = (algorithm, period = '1m') =>
    algorithm === 'gcra' ? { algorithm, limit: 6, period, burst: LIMIT } : { algorithm, limit: LIMIT, period }
  const store = new RedisStore({ client, prefix: candidate.replaceAll(/\W/g, '') })
  if (candidate.startsWith('sluice hot key')) {
    const { PrefetchStore } = await import('@sluice/limiter/stores/prefetch')
    const prefetch = Number(/(\d+) ahead/.exec(candidate)?.[1] ?? 0)
    const limit = { algorithm: 'fixed-window', limit: 1_000 * LIMIT, period: '1h' }
    const limiter = createLimiter({
      store: new PrefetchStore(store),
      policies: { p: prefetch === 0 ? limit : { ...limit, prefetch } },
    })
    return () => limiter.check('hot')
  }
  const [, algorithm = 'gcra'] = /sluice ([\w-]+)/.exec(candidate) ?? []
  const policies = { a: policy('gcra'), b: policy('fixed-window'), c: policy('fixed-window', '1h') }
  const count = Number(/(\d) limits/.exec(candidate)?.[1] ?? 1)
  const limiter = createLimiter({
    store,
    policies:
      count === 1 ? { p: policy(algorithm) } : Object.fromEntries(Object.entries(policies).slice(0, count)),
  })
  return (key) => limiter.check(key)
}

async function decider(candidate, port) {
  const isNodeRedis = candidate.endsWith('node-redis')
  const client = await (isNodeRedis ? nodeRedis(port) : ioredis(port))
  if (candidate.startsWith('sluice')) return sluice(candidate, client)
  if (candidate.startsWith('rate-limiter-flexible')) {
    const { RateLimiterRedis } = await import('rate-limiter-flexible')
    const limiters = Array.from(
      { length: Number(/(\d) limits/.exec(candidate)?.[1] ?? 1) },
      (_, i) =>
        new RateLimiterRedis({
          storeClient: client,
          useRedisPackage: isNodeRedis,
          points: LIMIT,
          duration: 60 + i,
          keyPrefix: `f${i}`,
        }),
    )
    return limiters.length === 1
      ? (key) => limiters[0].consume(key)
      : (key) => Promise.all(limiters.map((limiter) => limiter.consume(key)))
  }
  if (candidate.startsWith('rate-limit-redis')) {
    const { RedisStore } = await import('rate-limit-redis')
    const sendCommand = isNodeRedis
      ? (...words) => client.sendCommand(words)
      : (...words) => client.call(...words)
    const store = new RedisStore({ sendCommand })
    store.init({ windowMs: 60_000 })
    return (key) => store.increment(key)
  }
  const sha = await client.script('LOAD', 'return 1')
  return (key) => client.evalsha(sha, 1, key)
}

export async function run(scenario, candidate) {
  const [port, pid] = process.env.BENCH_REDIS.split(' ').map(Number)
  const decide = await decider(candidate, port)
  const inFlight = Number(/(\d+) in flight/.exec(scenario)[1])
  const waits = []
  let next = 0
  const ask = async (count) => {
    const end = next + count
    const worker = async () => {
      while (next < end) {
        const began = performance.now()
        await decide(`user:${(next++ * 7_919) % KEYS}`)
        waits.push(performance.now() - began)
      }
    }
    await Promise.all(Array.from({ length: inFlight }, worker))
  }
  const count = COUNTS[inFlight]
  await ask(WARM_UP)
  waits.length = 0
  const [own, server, time, first] = [ownCpu(), cpuOf(pid), performance.now(), next]
  await ask(count)
  const done = next - first
  const [client, serverCpu] = [(ownCpu() - own) / done, (cpuOf(pid) - server) / done]
  const rate = (done / (performance.now() - time)) * 1_000
  return {
    us: client + serverCpu,
    client,
    server: serverCpu,
    'a second': rate,
    ...quantiles(waits),
  }
}
