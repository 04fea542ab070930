// A decision by a shared store: decisions a second, and microseconds of this process's and the server's CPU, at 1,
// 64 and 512 in flight, over 100,000 keys. Starts a redis-server of its own. `npm run redis`
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLimiter } from '@sluice/limiter'
import { RedisStore } from '@sluice/limiter/stores/redis'
import { Redis } from 'ioredis'
import { RedisStore as RateLimitRedis } from 'rate-limit-redis'
import { RateLimiterRedis } from 'rate-limiter-flexible'

const KEYS = 100_000
const ROUNDS = 5
const LIMIT = 1_000_000

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
const socket = join(folder, 'redis.sock')
const server = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder])
await once(server.stdout, 'data')
const connect = () => new Redis(socket, { autoResendUnfulfilledCommands: false })

const empty = connect()
const sha = await empty.script('LOAD', 'return 1')
const rlrClient = connect()
const rlr = new RateLimitRedis({ sendCommand: (...args) => rlrClient.call(...args) })
rlr.init({ windowMs: 60_000 })
const flexible = new RateLimiterRedis({ storeClient: connect(), points: LIMIT, duration: 60 })
const sluice = (algorithm) => {
  const store = new RedisStore({ client: connect(), prefix: algorithm })
  const limiter = createLimiter({ store, policies: { p: { algorithm, limit: LIMIT, period: '1m' } } })
  return (key) => limiter.check(key)
}
const candidates = {
  'sluice gcra': sluice('gcra'),
  'sluice fixed-window': sluice('fixed-window'),
  'rate-limiter-flexible': (key) => flexible.consume(key),
  'rate-limit-redis': (key) => rlr.increment(key),
  'an empty script': (key) => empty.evalsha(sha, 1, key),
}

async function serverCpu() {
  const info = await empty.info('cpu')
  const [user, system] = ['user', 'sys'].map((kind) =>
    Number(new RegExp(`used_cpu_${kind}:([\\d.]+)`).exec(info)[1]),
  )
  return (user + system) * 1e6
}

async function run(decide, inFlight, count) {
  const before = { server: await serverCpu(), client: process.cpuUsage(), time: performance.now() }
  let next = 0
  const worker = async () => {
    while (next < count) await decide(`user:${(next++ * 7_919) % KEYS}`)
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  const seconds = (performance.now() - before.time) / 1_000
  const { user, system } = process.cpuUsage(before.client)
  return {
    rate: count / seconds,
    client: (user + system) / count,
    server: ((await serverCpu()) - before.server) / count,
  }
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]
for (const inFlight of [1, 64, 512]) {
  const count = inFlight === 1 ? 5_000 : 50_000
  const runs = new Map(Object.keys(candidates).map((name) => [name, []]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, decide] of Object.entries(candidates)) {
      const figures = await run(decide, inFlight, count)
      if (round > 0) runs.get(name).push(figures)
    }
  }
  console.log(`\n${inFlight} in flight (Node ${process.versions.node})`)
  for (const [name, all] of runs) {
    const of = (figure) => median(all.map((one) => one[figure]))
    console.log(
      `  ${name.padEnd(24)} ${of('rate').toFixed(0).padStart(8)}/s  client ${of('client').toFixed(1)} us  server ${of('server').toFixed(1)} us`,
    )
  }
}
server.kill()
rmSync(folder, { recursive: true, force: true })
process.exit()
