// A decision by a shared Redis on loopback TCP: microseconds of CPU, client's and server's together, over 100,000 keys.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuOf, ownCpu } from '../cpu.mjs'

const KEYS = 100_000
const LIMIT = 1_000_000
const COUNTS = { 1: 8_000, 64: 40_000, 512: 40_000 }
const ONE = [
  'sluice gcra',
  'sluice fixed-window',
  'rate-limiter-flexible',
  'rate-limit-redis',
  'an empty script',
]

export const scenarios = {
  '1 in flight': { unit: 'us', candidates: ONE },
  '64 in flight': { unit: 'us', candidates: ONE },
  '512 in flight': { unit: 'us', candidates: ONE },
  'two limits, 64 in flight': {
    unit: 'us',
    candidates: ['sluice, 2 limits', 'rate-limiter-flexible, 2 limits'],
  },
}

export const tables = [{ head: 'us', columns: Object.keys(scenarios) }]

/** A server of its own, that all candidates use one after the other. Its processes find it by their environment. */
export async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const port = String(20_000 + (process.pid % 20_000))
  const words = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  const server = spawn('redis-server', words)
  await once(server.stdout, 'data')
  server.stdout.resume()
  process.env.BENCH_REDIS = `${port} ${server.pid}`
  return async () => {
    server.kill()
    await once(server, 'close')
    rmSync(folder, { recursive: true, force: true })
  }
}

async function decider(candidate, connect) {
  if (candidate.startsWith('sluice')) {
    const { createLimiter } = await import('@sluice/limiter')
    const { RedisStore } = await import('@sluice/limiter/stores/redis')
    const policy = (algorithm) => ({ algorithm, limit: LIMIT, period: '1m' })
    const [, algorithm = 'gcra'] = /sluice ([\w-]+)/.exec(candidate) ?? []
    const policies = candidate.endsWith('2 limits')
      ? { a: policy('gcra'), b: policy('fixed-window') }
      : { p: policy(algorithm) }
    const limiter = createLimiter({
      store: new RedisStore({ client: connect(), prefix: candidate.replaceAll(/\W/g, '') }),
      policies,
    })
    return (key) => limiter.check(key)
  }
  if (candidate.startsWith('rate-limiter-flexible')) {
    const { RateLimiterRedis } = await import('rate-limiter-flexible')
    const client = connect()
    const count = candidate.endsWith('2 limits') ? 2 : 1
    const limiters = Array.from(
      { length: count },
      (_, i) =>
        new RateLimiterRedis({ storeClient: client, points: LIMIT, duration: 60 + i, keyPrefix: `f${i}` }),
    )
    return count === 1
      ? (key) => limiters[0].consume(key)
      : (key) => Promise.all(limiters.map((limiter) => limiter.consume(key)))
  }
  const client = connect()
  if (candidate === 'rate-limit-redis') {
    const { RedisStore } = await import('rate-limit-redis')
    const store = new RedisStore({ sendCommand: (...words) => client.call(...words) })
    store.init({ windowMs: 60_000 })
    return (key) => store.increment(key)
  }
  const sha = await client.script('LOAD', 'return 1')
  return (key) => client.evalsha(sha, 1, key)
}

export async function run(scenario, candidate) {
  const { Redis } = await import('ioredis')
  const [port, pid] = process.env.BENCH_REDIS.split(' ').map(Number)
  const decide = await decider(
    candidate,
    () => new Redis({ port, host: '127.0.0.1', autoResendUnfulfilledCommands: false }),
  )
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
  await ask(count / 2)
  waits.length = 0
  const [own, server, time, first] = [ownCpu(), cpuOf(pid), performance.now(), next]
  await ask(count)
  const done = next - first
  const [client, serverCpu] = [(ownCpu() - own) / done, (cpuOf(pid) - server) / done]
  const rate = (done / (performance.now() - time)) * 1_000
  waits.sort((a, b) => a - b)
  const at = (share) => waits[Math.floor(waits.length * share)]
  return {
    us: client + serverCpu,
    client,
    server: serverCpu,
    rate,
    p50: at(0.5),
    p99: at(0.99),
    p999: at(0.999),
  }
}
